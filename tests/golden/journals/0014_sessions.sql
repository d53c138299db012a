BEGIN TRANSACTION;
CREATE TABLE agents (
	id CHAR(32) NOT NULL, 
	revision BIGINT NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	is_deleted BOOLEAN NOT NULL, 
	deleted_at DATETIME, 
	owner_id CHAR(32) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	description VARCHAR(2000), 
	tools JSON NOT NULL, 
	CONSTRAINT pk_agents PRIMARY KEY (id), 
	CONSTRAINT fk_agents_owner_id FOREIGN KEY(owner_id) REFERENCES users (id)
);
INSERT INTO "agents" VALUES('01a1f59f67607ac982dfb505d97503bc',6,'2026-11-19 21:03:47.040667','2026-11-19 21:03:47.040667',0,NULL,'01a1f59f670b7965b4105294991522bd','helper',NULL,'[]');
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0014_sessions');
CREATE TABLE api_keys (
	id CHAR(32) NOT NULL, 
	revision BIGINT NOT NULL, 
	created_at DATETIME NOT NULL, 
	user_id CHAR(32) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	prefix VARCHAR(64) NOT NULL, 
	key_hash VARCHAR(255) NOT NULL, 
	agent_id CHAR(32), 
	expires_at DATETIME, 
	revoked_at DATETIME, mac VARCHAR(64) DEFAULT '' NOT NULL, created_by CHAR(32), kind VARCHAR(20) DEFAULT 'key' NOT NULL, parent_id CHAR(32), last_used_at DATETIME, 
	CONSTRAINT pk_api_keys PRIMARY KEY (id), 
	CONSTRAINT uq_key_hash UNIQUE (key_hash), 
	CONSTRAINT fk_api_keys_user_id FOREIGN KEY(user_id) REFERENCES users (id), 
	CONSTRAINT fk_api_keys_agent_id FOREIGN KEY(agent_id) REFERENCES agents (id)
);
INSERT INTO "api_keys" VALUES('01a1f59f63547d42ad7602ac8ee0f01f',1,'2026-11-19 21:03:45.961657','01a1f59f63037040b8ccf43992fdb3c1','PEGBOARD_ADMIN_KEY','','7cdabfb90f85dd2aad4357f9a8e5c38bd1dd0be7dddbeb6c0b23b0b398572be4',NULL,NULL,NULL,'bd91d834cef5ab917a285c3e927189609b69adff96cb6957c46cacc08a416461',NULL,'key',NULL,'2026-11-19 21:03:47.088880');
INSERT INTO "api_keys" VALUES('01a1f59f673278ae917fd81024f0dc41',5,'2026-11-19 21:03:46.994533','01a1f59f670b7965b4105294991522bd','laptop','pb_fjsG1','2c79b9f340c7ad5f61fc8b59ffad4cfde964b5ef716fb314d3ac8385286f1b53',NULL,NULL,NULL,'75f774e849680a134c06c2fa15c7b2dc78fa53826d985b6b266100e3f8b8a864','01a1f59f63037040b8ccf43992fdb3c1','key',NULL,'2026-11-19 21:03:47.155702');
INSERT INTO "api_keys" VALUES('01a1f59f6794787f8f3fce01e2f1a36c',7,'2026-11-19 21:03:47.092525','01a1f59f670b7965b4105294991522bd','robot','pb_gbj-j','83cded3fb3e6c0b8d80c8fe60c75a41e5306428cbee8a5b13dd486748adfd833','01a1f59f67607ac982dfb505d97503bc',NULL,NULL,'dc5ed791f9d904507b2e4ff15f0e23155f8488ee55aec68019e8a20f8f810f0e','01a1f59f63037040b8ccf43992fdb3c1','key',NULL,'2026-11-19 21:03:47.147968');
CREATE TABLE board_state (
	id INTEGER NOT NULL, 
	revision BIGINT NOT NULL, writers INTEGER DEFAULT '0' NOT NULL, writers_signature VARCHAR(32) DEFAULT '' NOT NULL, 
	CONSTRAINT pk_board_state PRIMARY KEY (id), 
	CONSTRAINT ck_board_state_single CHECK (id = 1)
);
INSERT INTO "board_state" VALUES(1,12,5,'1daed86fd33d71be013a0691374018b1');
CREATE TABLE cancellations (
	id CHAR(32) NOT NULL, 
	run_id CHAR(32) NOT NULL, 
	why TEXT NOT NULL, 
	user_id CHAR(32), 
	agent_id CHAR(32), 
	asked_at DATETIME NOT NULL, 
	CONSTRAINT pk_cancellations PRIMARY KEY (id)
);
CREATE TABLE execution_counts (
	hour INTEGER NOT NULL, 
	caller_id TEXT NOT NULL, 
	tool_name TEXT NOT NULL, 
	status VARCHAR(20) NOT NULL, 
	code TEXT NOT NULL, 
	bucket INTEGER NOT NULL, 
	calls BIGINT NOT NULL, 
	CONSTRAINT pk_execution_counts PRIMARY KEY (hour, caller_id, tool_name, status, code, bucket)
)
 WITHOUT ROWID

;
INSERT INTO "execution_counts" VALUES(498645,'','','refused','tool_not_found',83,1);
INSERT INTO "execution_counts" VALUES(498645,'','','refused','tool_not_found',92,1);
INSERT INTO "execution_counts" VALUES(498645,'','dies','in_doubt','in_doubt',98,1);
INSERT INTO "execution_counts" VALUES(498645,'','echo','succeeded','',66,1);
INSERT INTO "execution_counts" VALUES(498645,'','echo','succeeded','',70,1);
INSERT INTO "execution_counts" VALUES(498645,'','echo','succeeded','',74,1);
INSERT INTO "execution_counts" VALUES(498645,'','echo','succeeded','',76,1);
INSERT INTO "execution_counts" VALUES(498645,'','echo','succeeded','',82,2);
INSERT INTO "execution_counts" VALUES(498645,'','echo','succeeded','',86,1);
INSERT INTO "execution_counts" VALUES(498645,'','echo','succeeded','',109,1);
INSERT INTO "execution_counts" VALUES(498645,'','echo','succeeded','',110,1);
INSERT INTO "execution_counts" VALUES(498645,'','fails','failed','execution_failed',163,1);
INSERT INTO "execution_counts" VALUES(498645,'','kept','refused','missing',99,1);
INSERT INTO "execution_counts" VALUES(498645,'','kept','succeeded','',103,1);
INSERT INTO "execution_counts" VALUES(498645,'','limited','refused','rate_limited',72,1);
INSERT INTO "execution_counts" VALUES(498645,'','limited','succeeded','',101,1);
INSERT INTO "execution_counts" VALUES(498645,'','math_eval','failed','execution_failed',102,1);
INSERT INTO "execution_counts" VALUES(498645,'','math_eval','succeeded','',98,1);
INSERT INTO "execution_counts" VALUES(498645,'','note','succeeded','',157,1);
INSERT INTO "execution_counts" VALUES(498645,'','once','refused','idempotency_conflict',150,1);
INSERT INTO "execution_counts" VALUES(498645,'','once','succeeded','',171,2);
INSERT INTO "execution_counts" VALUES(498645,'','print','succeeded','',226,1);
INSERT INTO "execution_counts" VALUES(498645,'','replaced','succeeded','',154,1);
INSERT INTO "execution_counts" VALUES(498645,'','tried','failed','contract_violation',174,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','','refused','tool_not_found',92,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','dies','in_doubt','in_doubt',98,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','echo','succeeded','',66,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','echo','succeeded','',70,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','echo','succeeded','',76,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','echo','succeeded','',82,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','echo','succeeded','',86,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','echo','succeeded','',109,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','echo','succeeded','',110,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','fails','failed','execution_failed',163,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','kept','refused','missing',99,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','kept','succeeded','',103,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','limited','refused','rate_limited',72,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','limited','succeeded','',101,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','math_eval','failed','execution_failed',102,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','math_eval','succeeded','',98,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','note','succeeded','',157,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','once','refused','idempotency_conflict',150,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','once','succeeded','',171,2);
INSERT INTO "execution_counts" VALUES(498645,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','print','succeeded','',226,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','replaced','succeeded','',154,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','tried','failed','contract_violation',174,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f59f-670b-7965-b410-5294991522bd','','refused','tool_not_found',83,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f59f-670b-7965-b410-5294991522bd','echo','succeeded','',74,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f59f-670b-7965-b410-5294991522bd','echo','succeeded','',82,1);
CREATE TABLE executions (
	id CHAR(32) NOT NULL, 
	tool_name TEXT NOT NULL, 
	status VARCHAR(20) NOT NULL, 
	started_at DATETIME NOT NULL, 
	finished_at DATETIME NOT NULL, 
	elapsed_ms FLOAT NOT NULL, 
	caller_id TEXT NOT NULL, 
	caller TEXT NOT NULL, 
	surface TEXT NOT NULL, 
	dialect TEXT NOT NULL, 
	attempts INTEGER NOT NULL, 
	tool_id TEXT, 
	tool_version INTEGER, 
	kind TEXT, 
	key_id TEXT, 
	agent_id TEXT, 
	request_id TEXT, 
	code TEXT, 
	error TEXT, 
	arguments_digest TEXT, 
	arguments JSON, 
	row_id TEXT, 
	chain_id TEXT, 
	thread_id TEXT, repeat_of TEXT, result TEXT, writer INTEGER, seq BIGINT, mac VARCHAR(32), printed TEXT, tries TEXT, 
	CONSTRAINT pk_executions PRIMARY KEY (id)
);
INSERT INTO "executions" VALUES('01a1f59f65667dda8b8410fa92bd1fb8','echo','succeeded','2026-11-19 21:03:46.534861','2026-11-19 21:03:46.535055',0.165,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1f59f-6566-7dda-8b84-10fa92bd1fb8',NULL,NULL,'5b9b2f0425dea2c739a9f8146e7b3ad9',NULL,NULL,NULL,NULL,NULL,NULL,1,4,'b8a72ac22db4a14f9b06c2500dd68c46',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f59f656d7496838e527abc0e3d5c','kept','succeeded','2026-11-19 21:03:46.541283','2026-11-19 21:03:46.541786',0.48,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','admin','library','plain',1,'01a1f59f-64e7-751e-92b7-33afefb7d7e0',1,'mock',NULL,NULL,'01a1f59f-656d-7496-838e-527abc0e3d5c',NULL,NULL,'f8c0ebb34afacfe0e586db0c71236683','{"text":"a ☃ and a 😀, \"quoted\", \\ and a\nline","number":-1.5e+300}',NULL,NULL,NULL,NULL,NULL,1,5,'78f586e6d0a2c09859dbe55227571825',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f59f657279c6bedd658c8de70dd5','fails','failed','2026-11-19 21:03:46.546608','2026-11-19 21:03:46.564223',17.589,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','admin','library','plain',1,'292d6f6c-a238-532d-ba7c-02469f556f4e',1,'internal',NULL,NULL,'01a1f59f-6572-79c6-bedd-658c8de70dd5','execution_failed','cannot do a ☃ and a 😀, "quoted", \ and a
line','5b9b2f0425dea2c739a9f8146e7b3ad9',NULL,NULL,NULL,NULL,NULL,NULL,1,6,'50d63668cdec6d0c38c55c50b2535deb',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f59f658774c9928ef9fd5a705bd3','math_eval','failed','2026-11-19 21:03:46.567296','2026-11-19 21:03:46.567763',0.449,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','admin','library','plain',1,'4f56c6ab-4df0-5007-b192-54f29c273c7e',1,'builtin',NULL,NULL,'01a1f59f-6587-74c9-928e-f9fd5a705bd3','execution_failed','Division by zero at position 2; change the divisor','7a7b795a3848342e06786c43662f9cfe',NULL,NULL,NULL,NULL,NULL,NULL,1,7,'663f02c95ebc5c05a6c518edd183bb14',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f59f659b769798bba098e256c376','kept','refused','2026-11-19 21:03:46.587408','2026-11-19 21:03:46.587799',0.366,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','admin','library','plain',0,'01a1f59f-64e7-751e-92b7-33afefb7d7e0',1,'mock',NULL,NULL,'01a1f59f-659b-7697-98bb-a098e256c376','missing','Invalid parameters: missing ''text''',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,8,'9e4ff6c95257b930578baa456a0b4a35',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f59f65a479c5a3f1cba9c2372e11','no_such_tool','refused','2026-11-19 21:03:46.596607','2026-11-19 21:03:46.596863',0.237,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','admin','library','plain',0,NULL,NULL,NULL,NULL,NULL,'01a1f59f-65a4-79c5-a3f1-cba9c2372e11','tool_not_found','Tool ''no_such_tool'' not found',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,9,'bac4bfc56a6f5d5d85d6b1ccb553cda7',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f59f65ab74a7834a4f1ff9435116','limited','succeeded','2026-11-19 21:03:46.603287','2026-11-19 21:03:46.603719',0.42,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','admin','library','plain',1,'01a1f59f-6524-785c-8fba-061bb02812e6',1,'mock',NULL,NULL,'01a1f59f-65ab-74a7-834a-4f1ff9435116',NULL,NULL,'dd6c5edb993fed5cbce20635102c5e0d',NULL,NULL,NULL,NULL,NULL,NULL,1,10,'dba0e55e4edf7d5a89bcdbb7526a0fa0',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f59f65b07a2d8030584be95f98eb','limited','refused','2026-11-19 21:03:46.608633','2026-11-19 21:03:46.608721',0.073,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','admin','library','plain',0,'01a1f59f-6524-785c-8fba-061bb02812e6',1,'mock',NULL,NULL,'01a1f59f-65b0-7a2d-8030-584be95f98eb','rate_limited','Rate limit of ''limited'' reached: 1 call per hour; try again in 3600 s','f97ed71b7511dfe7603e7a5254d9f565',NULL,NULL,NULL,NULL,NULL,NULL,1,11,'abc633f28c9637e9caa4251f885c7d1c',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f59f67c074cd81ad2dd642bf8af6','echo','succeeded','2026-11-19 21:03:47.136295','2026-11-19 21:03:47.136454',0.132,'01a1f59f-670b-7965-b410-5294991522bd','ada','rest','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin','01a1f59f-6732-78ae-917f-d81024f0dc41',NULL,'request-1',NULL,NULL,'e652cc220099e85068b5214737be578f',NULL,NULL,NULL,NULL,NULL,NULL,1,12,'8b0c0e4c80d332f9766abace29c8b49f',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f59f67cc708595b446c417a811c2','echo','refused','2026-11-19 21:03:47.148028','2026-11-19 21:03:47.148192',0.138,'01a1f59f-670b-7965-b410-5294991522bd','ada','rest','plain',0,NULL,NULL,NULL,'01a1f59f-6794-787f-8f3f-ce01e2f1a36c','01a1f59f-6760-7ac9-82df-b505d97503bc','01a1f59f-67cc-7085-95b4-46c417a811c2','tool_not_found','Tool ''echo'' not found',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,13,'c51e463573b1b58e68f755a71ed327ad',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f59f67d37f6b9bb7335da9c922b2','echo','succeeded','2026-11-19 21:03:47.155961','2026-11-19 21:03:47.156060',0.084,'01a1f59f-670b-7965-b410-5294991522bd','ada','rest','openai_chat',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin','01a1f59f-6732-78ae-917f-d81024f0dc41',NULL,'01a1f59f-67d3-7aee-8721-5cb990883c12',NULL,NULL,'d68c1a0008cb7280f4ee0d74655f8954',NULL,NULL,NULL,NULL,NULL,NULL,1,14,'1aea1efa4e2c63eb655601f9f3c5beaf',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f59f67e474409fd24d29d8e33805','once','succeeded','2026-11-19 21:03:47.172263','2026-11-19 21:03:47.199518',27.226,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','admin','library','plain',1,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1f59f-67e4-7440-9fd2-4d29d8e33805',NULL,NULL,'97678dd96dad8c66f92be3615dc9d488',NULL,NULL,NULL,NULL,NULL,'"A"',1,15,'f650f70e6010a90199cf18a49f9636b0',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f59f680b7d818db6343b670e22fb','once','succeeded','2026-11-19 21:03:47.211840','2026-11-19 21:03:47.225543',27.226,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','admin','library','plain',0,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1f59f-680b-7d81-8db6-343b670e22fb',NULL,NULL,'97678dd96dad8c66f92be3615dc9d488',NULL,NULL,NULL,NULL,'01a1f59f-67e4-7440-9fd2-4d29d8e33805','"A"',1,16,'edabb4dec5f54f371c72c3d85ee5c6e6',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f59f681f7598bd67a37a2ae1269f','once','refused','2026-11-19 21:03:47.231346','2026-11-19 21:03:47.239351',7.981,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','admin','library','plain',0,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1f59f-681f-7598-bd67-a37a2ae1269f','idempotency_conflict','This idempotency key was used for ''once'' with other arguments; send the same arguments again, or a new key for a new call','ff18cf164703a27ecb717a65b6b172ba',NULL,NULL,NULL,NULL,NULL,NULL,1,17,'bd6ef63238fceec0ee6c028c767351b0',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f59f6835720c994fabe82199c04a','tried','failed','2026-11-19 21:03:47.253125','2026-11-19 21:03:47.285917',32.758,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','admin','library','plain',2,'47fe7a73-0ae4-5d70-aa28-58a231407683',1,'internal',NULL,NULL,'01a1f59f-6835-720c-994f-abe82199c04a','contract_violation','The tool''s output breaks its output schema: The output must be an integer','0086d488fc00309f5c88690063ec34ab',NULL,NULL,NULL,NULL,NULL,NULL,1,18,'ce267860718aa94e7673534ce76b2877',NULL,'[{"attempt":1,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":14.596},{"attempt":2,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":1.772}]');
INSERT INTO "executions" VALUES('01a1f59f6863710088a77db31b718a7b','replaced','succeeded','2026-11-19 21:03:47.299054','2026-11-19 21:03:47.309167',10.085,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','admin','library','plain',2,'0b58c42c-a575-56ea-8e61-45f3fdeaeca4',1,'internal',NULL,NULL,'01a1f59f-6863-7100-88a7-7db31b718a7b',NULL,NULL,'0086d488fc00309f5c88690063ec34ab',NULL,NULL,NULL,NULL,NULL,NULL,1,19,'d5c2d6b79aa84405d88cc58f70cdf702',NULL,'[{"attempt":1,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":0.774},{"attempt":2,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":0.225}]');
INSERT INTO "executions" VALUES('01a1f59f68a3731b9ccf2921e27bb2d8','note','succeeded','2026-11-19 21:03:47.363191','2026-11-19 21:03:47.374901',11.69,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','admin','library','plain',1,'01a1f59f-6880-7b38-b6cc-eebe892d949c',1,'table',NULL,NULL,'01a1f59f-68a3-731b-9ccf-2921e27bb2d8',NULL,NULL,'837ccfa12e0b7ae21246514eaf937f77',NULL,'1',NULL,NULL,NULL,NULL,2,1,'f0e1c82601430b8ac2c44a5fcc30c0f4',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f59f68b479d1ab554e946fb3afeb','print','succeeded','2026-11-19 21:03:47.380610','2026-11-19 21:03:48.119858',739.206,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','admin','library','plain',1,'01a1f59f-689a-749d-9210-d56607610332',1,'python',NULL,NULL,'01a1f59f-68b4-79d1-ab55-4e946fb3afeb',NULL,NULL,'e2dde39f719cbc82db19df783a3e156f',NULL,NULL,NULL,NULL,NULL,NULL,1,20,'346c191a92064f1624b46f71969ff932','printed text
',NULL);
INSERT INTO "executions" VALUES('01a1f59f6ba1731c8ea23578f001c229','math_eval','succeeded','2026-11-19 21:03:48.129214','2026-11-19 21:03:48.129590',0.358,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','admin','library','plain',1,'4f56c6ab-4df0-5007-b192-54f29c273c7e',1,'builtin',NULL,NULL,'01a1f59f-6ba1-731c-8ea2-3578f001c229',NULL,NULL,'f23fc9c19049944a7e40d13e0f4fddcb',NULL,NULL,'01a1f59f-6ba1-7002-b490-387854c45b54',NULL,NULL,NULL,1,21,'d297423b8ee0e69fd1ba75b218d4d28e',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f59f6ba778ecb974713abe4b8935','echo','succeeded','2026-11-19 21:03:48.135572','2026-11-19 21:03:48.135633',0.051,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1f59f-6ba7-78ec-b974-713abe4b8935',NULL,NULL,'fa2ea0344c0b7a2f081f939705f43f7d',NULL,NULL,'01a1f59f-6ba1-7002-b490-387854c45b54',NULL,NULL,NULL,1,22,'8614ef788e7569df7b85003d7ecccdfa',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f59f6bc777a295df1b957f319adf','echo','succeeded','2026-11-19 21:03:48.167473','2026-11-19 21:03:48.167586',0.094,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1f59f-6bc7-77a2-95df-1b957f319adf',NULL,NULL,'c799954a8d826a2843b9e83cace0e480',NULL,NULL,NULL,'01a1f59f-6ba8-7465-ac31-598a8e25b957',NULL,NULL,1,23,'ca261f5d99a0547a180c796dd83ae676',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f59f920973988b5baf2eb5ff6818','dies','in_doubt','2026-11-19 21:03:57.961221','2026-11-19 21:03:58.438899',0.34,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','admin','library','plain',1,'301f3051-930d-5d5d-ae86-e078a5b82b33',1,'internal',NULL,NULL,'01a1f59f-9209-7398-8b5b-af2eb5ff6818','in_doubt','The server ended while this call was running; whether it took effect is not known','0086d488fc00309f5c88690063ec34ab',NULL,NULL,NULL,NULL,NULL,NULL,4,1,'60fa47100d26c52ea992e46fa75007f2',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f59fb8797f729940b04f6f5ab1b3','echo','succeeded','2026-11-19 21:04:07.801959','2026-11-19 21:04:07.802663',0.665,'01a1f59f-6303-7040-b8cc-f43992fdb3c1','admin','cli','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1f59f-b879-7f72-9940-b04f6f5ab1b3',NULL,NULL,'1fc1b73a1334078a25c8ecf192a88322',NULL,NULL,NULL,NULL,NULL,NULL,5,1,'cd9b7a21c65ed4f3bb5154c438f0a44d',NULL,NULL);
CREATE TABLE findings (
	owner_id CHAR(32) NOT NULL, 
	composite_hash VARCHAR(64) NOT NULL, 
	finding_id TEXT NOT NULL, 
	seen_count BIGINT NOT NULL, 
	first_seen_at DATETIME NOT NULL, 
	last_seen_at DATETIME NOT NULL, 
	resolved_at DATETIME, 
	CONSTRAINT pk_findings PRIMARY KEY (owner_id, composite_hash)
)
 WITHOUT ROWID

;
CREATE TABLE intents (
	id CHAR(32) NOT NULL, 
	writer INTEGER NOT NULL, 
	state VARCHAR(20) NOT NULL, 
	execution TEXT NOT NULL, 
	receipts BOOLEAN NOT NULL, 
	claim VARCHAR(64), 
	digest TEXT, 
	answer TEXT, 
	expires_at DATETIME, mac VARCHAR(32) DEFAULT '' NOT NULL, claim_mac VARCHAR(32) DEFAULT '' NOT NULL, set_aside_at DATETIME, 
	CONSTRAINT pk_intents PRIMARY KEY (id), 
	CONSTRAINT uq_intent_claim UNIQUE (claim), 
	CONSTRAINT ck_intents_state CHECK (state IN ('open', 'done', 'in_doubt'))
);
INSERT INTO "intents" VALUES('01a1f59f67e474409fd24d29d8e33805',1,'done','',0,'d4a7731f1e9a88cf9856284a6207435747ccdc2e8ef40ae9b527d2cb235aedad','97678dd96dad8c66f92be3615dc9d488','pb1:b3457b1d:l5OS_gi35ZJFvAiE2flAWzDxeaje4vFuhUE-dCgYWibyfOixtiTv4fjErWesVZAUyXS0YKd8kaeXv7aiQWhVDn8S0GIPE3ZbtPCI1-7akTocg--hQdrPaFwVSL7MwHAqusGeDTRTuJ3DblQWK6GNb4voKVZXNMYzio4HkX2l7Uzno01uSnwgpQ','2026-11-20 21:03:47.172528','b190fa0f1cfe19e968fca626a42687a9','96e4e3abecccfdc08016552bbc8c13e0',NULL);
CREATE TABLE messages (
	thread_id CHAR(32) NOT NULL, 
	position INTEGER NOT NULL, 
	id CHAR(32) NOT NULL, 
	role VARCHAR(20) NOT NULL, 
	content TEXT, 
	timestamp DATETIME NOT NULL, 
	tool_calls TEXT NOT NULL, 
	dialect VARCHAR(64), 
	raw TEXT, 
	CONSTRAINT pk_messages PRIMARY KEY (thread_id, position), 
	CONSTRAINT uq_message_id UNIQUE (id), 
	CONSTRAINT fk_messages_thread_id FOREIGN KEY(thread_id) REFERENCES threads (id) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "messages" VALUES('01a1f59f6ba87465ac31598a8e25b957',0,'01a1f59f6bd4794e9b5cfd83e4abb434','assistant',NULL,'2026-11-19 21:03:48.178356','[{"id":"call_01a1f59f6bc777a295df1b957f319adf","name":"echo","arguments":{"text":"thread"},"result":{"echo":{"text":"thread"}},"duration_ms":0.094,"attempts":1,"run_id":"01a1f59f-6bc7-77a2-95df-1b957f319adf","result_valid":true}]','plain',NULL);
CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT);
INSERT INTO "notes" VALUES(1,'inserted');
CREATE TABLE receipts (
	id CHAR(32) NOT NULL, 
	row_id TEXT, 
	output TEXT, 
	is_void BOOLEAN NOT NULL, mac VARCHAR(32) DEFAULT '' NOT NULL, set_aside_at DATETIME, 
	CONSTRAINT pk_receipts PRIMARY KEY (id)
);
CREATE TABLE secrets (
	id CHAR(32) NOT NULL, 
	revision BIGINT NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	owner_id CHAR(32) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	sealed TEXT, 
	CONSTRAINT pk_secrets PRIMARY KEY (id), 
	CONSTRAINT uq_secret_name UNIQUE (owner_id, name), 
	CONSTRAINT fk_secrets_owner_id FOREIGN KEY(owner_id) REFERENCES users (id)
);
INSERT INTO "secrets" VALUES('01a1f59f63117512be3b8fc3590bd862',1,'2026-11-19 21:03:45.937312','2026-11-19 21:03:45.937312','01a1f59f63037040b8ccf43992fdb3c1','$root','pb1:b3457b1d:PvypsCcaf8HXDOvo9lWckNhpTSBUqHkip7od3WrAWqgl1FfeDvD4UFISr6YM7rPKuTfsx4zRmnJxMrYQtlYdTQu_6UWe0_hNbQwH43HXPA');
CREATE TABLE threads (
	id CHAR(32) NOT NULL, 
	owner_id CHAR(32) NOT NULL, 
	title TEXT, 
	messages INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, agent_id CHAR(32), 
	CONSTRAINT pk_threads PRIMARY KEY (id), 
	CONSTRAINT fk_threads_owner_id FOREIGN KEY(owner_id) REFERENCES users (id)
);
INSERT INTO "threads" VALUES('01a1f59f6ba87465ac31598a8e25b957','01a1f59f63037040b8ccf43992fdb3c1','golden',1,'2026-11-19 21:03:48.136272','2026-11-19 21:03:48.178515',NULL);
CREATE TABLE tool_versions (
	id CHAR(32) NOT NULL, 
	tool_id CHAR(32) NOT NULL, 
	version INTEGER NOT NULL, 
	definition JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	created_by VARCHAR(255) NOT NULL, 
	CONSTRAINT pk_tool_versions PRIMARY KEY (id), 
	CONSTRAINT uq_tool_version UNIQUE (tool_id, version), 
	CONSTRAINT fk_tool_versions_tool_id FOREIGN KEY(tool_id) REFERENCES tools (id)
);
INSERT INTO "tool_versions" VALUES('01a1f59f638f7ecab7d436d2d33bf586','4f56c6ab4df05007b19254f29c273c7e',1,'{"name": "math_eval", "tool_type": "builtin", "config": {"operation": "math_eval"}, "input_schema": {"type": "object", "properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "The expression to evaluate.", "examples": ["2+2", "(1 + 0.05)^10 * 1000", "sqrt(3^2 + 4^2)", "sin(radians(30))"]}}, "required": ["expression"], "examples": [{"expression": "(1 + 0.05)^10 * 1000"}]}, "description": "Evaluates one arithmetic expression and returns the number. Use it for any calculation beyond trivial mental arithmetic instead of working it out yourself. Operators: + - * / // (floor division) % (modulo, not percent) ^ or ** (power) and ! (factorial). Constants: pi, e, tau. Functions: sqrt, cbrt, abs, round, floor, ceil, trunc, sign, exp, log, ln, log2, log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, min, max, sum, mean, pow, mod, gcd, lcm, factorial, hypot, degrees, radians. Angles are in radians; log is natural unless written log(x, base). There are no variables, comparisons, lists or units, and numbers are written without thousands separators.", "output_schema": {"type": "object", "properties": {"result": {"type": "number", "description": "The value; whole numbers beyond 64 bits are rounded to a floating-point number."}}, "required": ["result"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Calculator", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 21:03:46.014382','01a1f59f-6303-7040-b8cc-f43992fdb3c1');
INSERT INTO "tool_versions" VALUES('01a1f59f638f7f618ed441074814047e','6b6d2eda2c7950659ce66502d73cc282',1,'{"name": "echo", "tool_type": "builtin", "config": {"operation": "echo"}, "input_schema": {"type": "object", "additionalProperties": true, "examples": [{"message": "hello"}]}, "description": "Returns exactly the arguments it was called with, under `echo`. Use it to check that tool calls work and how your arguments arrive; it does nothing else.", "output_schema": {"type": "object", "properties": {"echo": {"type": "object", "description": "The arguments of the call."}}, "required": ["echo"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Echo", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 21:03:46.014382','01a1f59f-6303-7040-b8cc-f43992fdb3c1');
INSERT INTO "tool_versions" VALUES('01a1f59f638f7f95951f500265cf8a01','85f568ed8cd35e11a508d3927f353e28',1,'{"name": "calculate_rsi", "tool_type": "builtin", "config": {"operation": "calculate_rsi"}, "input_schema": {"type": "object", "properties": {"prices": {"type": "array", "items": {"type": "number", "minimum": -1e+300, "maximum": 1e+300}, "minItems": 2, "maxItems": 100000, "description": "Closing prices, oldest first; at least period + 1.", "examples": [[44.34, 44.09, 44.15, 43.61, 44.33]]}, "period": {"type": "integer", "minimum": 1, "maximum": 99999, "default": 14, "description": "How many price changes are averaged; 14 is usual."}, "overbought": {"type": "number", "minimum": 0, "maximum": 100, "default": 70, "description": "The RSI from which on the answer''s `overbought` is true."}, "oversold": {"type": "number", "minimum": 0, "maximum": 100, "default": 30, "description": "The RSI down from which the answer''s `oversold` is true."}, "include_series": {"type": "boolean", "default": true, "description": "false leaves `series` out of the answer: shorter when only the last value matters."}}, "required": ["prices"], "examples": [{"prices": [44.34, 44.09, 44.15, 43.61, 44.33], "period": 3}]}, "description": "Calculates the relative strength index (RSI) of a series of prices, with Wilder''s smoothing, and says whether the last value is overbought or oversold. Give the closing prices oldest first, at least period + 1 of them; around 100 or more make the smoothing settle. It fetches no prices: you must have them already.", "output_schema": {"type": "object", "properties": {"rsi": {"type": "number", "minimum": 0, "maximum": 100, "description": "The RSI at the last price."}, "overbought": {"type": "boolean", "description": "Whether `rsi` is at or above the threshold."}, "oversold": {"type": "boolean", "description": "Whether `rsi` is at or below the threshold."}, "period": {"type": "integer", "description": "The period that was used."}, "series": {"type": "array", "items": {"type": ["number", "null"]}, "description": "The RSI at every price, as many as `prices`; null for the first `period` of them."}}, "required": ["rsi", "overbought", "oversold", "period"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Calculate RSI", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 21:03:46.014382','01a1f59f-6303-7040-b8cc-f43992fdb3c1');
INSERT INTO "tool_versions" VALUES('01a1f59f638f7fbcbf018963d39ceeab','41a86778e8bd54c69de12c75630f7f9e',1,'{"name": "current_time", "tool_type": "builtin", "config": {"operation": "current_time"}, "input_schema": {"type": "object", "properties": {"timezone": {"type": "string", "maxLength": 64, "default": "UTC", "description": "An IANA time zone name.", "examples": ["UTC", "Europe/Berlin", "America/New_York"]}}, "examples": [{}, {"timezone": "Europe/Berlin"}]}, "description": "Returns the current date, time and weekday, in UTC or in the time zone you name. Call it whenever an answer depends on what day or time it is now; you cannot know that otherwise.", "output_schema": {"type": "object", "properties": {"iso": {"type": "string", "format": "date-time", "description": "ISO 8601, with the zone''s offset."}, "unix": {"type": "integer", "description": "Seconds since 1970-01-01T00:00:00Z."}, "timezone": {"type": "string", "description": "The time zone of `iso`, `date`, `time` and `weekday`."}, "abbreviation": {"type": ["string", "null"], "description": "What the zone is called now, such as CEST."}, "date": {"type": "string", "format": "date"}, "time": {"type": "string", "description": "HH:MM:SS, on a 24-hour clock."}, "weekday": {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]}}, "required": ["iso", "unix", "timezone", "date", "time", "weekday"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Current Time", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 21:03:46.014382','01a1f59f-6303-7040-b8cc-f43992fdb3c1');
INSERT INTO "tool_versions" VALUES('01a1f59f638f7fe4997ba6553a08a0f4','9e60bc7b2e6952c6bbf20b00e3006074',1,'{"name": "json_query", "tool_type": "builtin", "config": {"operation": "json_query"}, "input_schema": {"type": "object", "properties": {"data": {"description": "The JSON value to query: an object or array, not a string with JSON in it."}, "query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The JMESPath expression.", "examples": ["items[0].name", "items[?price > `10`].{name: name, price: price}", "sort_by(items, &price)[-1]", "length(items)"]}}, "required": ["data", "query"], "examples": [{"data": {"items": [{"name": "a", "price": 5}, {"name": "b", "price": 20}]}, "query": "items[?price > `10`]"}]}, "description": "Selects, filters, sorts and reshapes parts of a JSON value with a JMESPath query, and returns what it finds; null where nothing matches. Use it to get a few values out of a large JSON result without copying it by hand. Numbers in a query stand in backticks (`10`), strings in single quotes (''red''). It has no arithmetic.", "output_schema": {"type": "object", "properties": {"result": {"description": "What the query selects; null where nothing matches."}}, "required": ["result"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "JSON Query", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 21:03:46.014382','01a1f59f-6303-7040-b8cc-f43992fdb3c1');
INSERT INTO "tool_versions" VALUES('01a1f59f6390700ab143fa0627bf416a','492cf430bf41555ebdbdf302bf383784',1,'{"name": "query_baseline", "tool_type": "internal", "config": {"handler": "query_baseline"}, "input_schema": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "query_type": {"type": "string", "enum": ["baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": ["finding_id", "composite_hash", "query_type"], "additionalProperties": false}, "description": "Return whether a finding is new, recurring or resolved, since when, and how often it was seen. Read-only.", "output_schema": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Query baseline", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 21:03:46.014382','01a1f59f-6303-7040-b8cc-f43992fdb3c1');
INSERT INTO "tool_versions" VALUES('01a1f59f6390702cae81e7306822448e','3d387905ae305c2882a8c97f9e4aa8d1',1,'{"name": "batch_baseline_query", "tool_type": "internal", "config": {"handler": "batch_baseline_query"}, "input_schema": {"type": "object", "properties": {"finding_ids": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "maxItems": 10000, "description": "What you call the findings"}, "composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "Their hashes, one for each of finding_ids in the same order"}, "query_type": {"type": "string", "enum": ["batch_baseline_check", "baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the same answer"}, "batch_size": {"type": "integer", "minimum": 1, "maximum": 10000, "description": "How many are looked up in one statement; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": ["finding_ids", "composite_hashes", "query_type"], "additionalProperties": false}, "description": "Return whether each of up to 10,000 findings is known, in the order of the request. Read-only.", "output_schema": {"type": "object", "properties": {"results": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}}}, "required": ["results"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Query baseline for many", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": 33554432, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 21:03:46.014382','01a1f59f-6303-7040-b8cc-f43992fdb3c1');
INSERT INTO "tool_versions" VALUES('01a1f59f6390705092ab9cb11a0594ce','86374af31257591dbc5f4666a9fd2d72',1,'{"name": "record_findings", "tool_type": "internal", "config": {"handler": "record_findings"}, "input_schema": {"type": "object", "properties": {"findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["finding_id", "composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "What was seen"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": ["findings"], "additionalProperties": false}, "description": "Record that findings were seen. Each call counts as one sighting; a resolved finding that is seen again recurs.", "output_schema": {"type": "object", "properties": {"recorded": {"type": "integer", "minimum": 0}, "new": {"type": "integer", "minimum": 0}, "recurring": {"type": "integer", "minimum": 0}, "reopened": {"type": "integer", "minimum": 0}}, "required": ["recorded", "new", "recurring", "reopened"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Record findings", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 21:03:46.014382','01a1f59f-6303-7040-b8cc-f43992fdb3c1');
INSERT INTO "tool_versions" VALUES('01a1f59f639070768000fe3027c2ea25','42944903dad95a33ae7df27da4aa4324',1,'{"name": "resolve_findings", "tool_type": "internal", "config": {"handler": "resolve_findings"}, "input_schema": {"type": "object", "properties": {"composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "The hashes of the findings"}, "findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "The findings"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": [], "additionalProperties": false}, "description": "Mark findings as resolved until they are seen again. Pass either composite_hashes or findings.", "output_schema": {"type": "object", "properties": {"resolved": {"type": "integer", "minimum": 0}, "already_resolved": {"type": "integer", "minimum": 0}, "unknown": {"type": "integer", "minimum": 0}}, "required": ["resolved", "already_resolved", "unknown"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Resolve findings", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 21:03:46.014382','01a1f59f-6303-7040-b8cc-f43992fdb3c1');
INSERT INTO "tool_versions" VALUES('01a1f59f64fe736394297b6ab4821386','01a1f59f64e7751e92b733afefb7d7e0',1,'{"name": "kept", "tool_type": "mock", "config": {"mock_response": {"sky": "clear"}}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden kept", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": true, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 21:03:46.407316','01a1f59f-6303-7040-b8cc-f43992fdb3c1');
INSERT INTO "tool_versions" VALUES('01a1f59f653b75e79eda0ac6d33865c1','01a1f59f6524785c8fba061bb02812e6',1,'{"name": "limited", "tool_type": "mock", "config": {"mock_response": 1}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden limited", "output_schema": null, "rate_limit": {"max_calls": 1, "period": "hour", "burst": null, "scope": "caller"}, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 21:03:46.468517','01a1f59f-6303-7040-b8cc-f43992fdb3c1');
INSERT INTO "tool_versions" VALUES('01a1f59f68917a6285ad119379695b7f','01a1f59f68807b38b6cceebe892d949c',1,'{"name": "note", "tool_type": "table", "config": {"tableName": "notes", "fields": [{"name": "text", "dataType": "text"}]}, "input_schema": {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"text": {"type": ["string", "null"]}}, "required": [], "additionalProperties": false}, "description": "Golden note", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "reject", "result_style": "detailed", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 21:03:47.328693','01a1f59f-6303-7040-b8cc-f43992fdb3c1');
INSERT INTO "tool_versions" VALUES('01a1f59f689d719586de4a818a60fcad','01a1f59f689a749d9210d56607610332',1,'{"name": "print", "tool_type": "python", "config": {"code": "def show(text: str) -> str:\n    print(''printed'', text)\n    return text\n"}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden print", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 21:03:47.354284','01a1f59f-6303-7040-b8cc-f43992fdb3c1');
CREATE TABLE tools (
	id CHAR(32) NOT NULL, 
	revision BIGINT NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	is_deleted BOOLEAN NOT NULL, 
	deleted_at DATETIME, 
	owner_id CHAR(32) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	description VARCHAR(2000), 
	tool_type VARCHAR(50) NOT NULL, 
	config JSON NOT NULL, 
	input_schema JSON NOT NULL, 
	output_schema JSON, 
	auth_config JSON, 
	rate_limit JSON, 
	is_active BOOLEAN NOT NULL, 
	is_public BOOLEAN NOT NULL, 
	version INTEGER NOT NULL, 
	display_name VARCHAR(255), 
	tags JSON NOT NULL, 
	timeout FLOAT, 
	unknown_parameters VARCHAR(20) NOT NULL, 
	result_style VARCHAR(20) NOT NULL, 
	retry JSON, 
	fallback JSON, 
	idempotent BOOLEAN NOT NULL, 
	read_only BOOLEAN NOT NULL, 
	destructive BOOLEAN NOT NULL, 
	keep_arguments BOOLEAN NOT NULL, 
	max_result_bytes INTEGER, 
	drifted BOOLEAN NOT NULL, keep_result BOOLEAN DEFAULT 0 NOT NULL, display JSON, on_disconnect VARCHAR(20) DEFAULT 'cancel' NOT NULL, bound_tools JSON, 
	CONSTRAINT pk_tools PRIMARY KEY (id), 
	CONSTRAINT ck_tools_is_active CHECK (is_active IS NOT NULL), 
	CONSTRAINT ck_tools_is_public CHECK (is_public IS NOT NULL), 
	CONSTRAINT fk_tools_owner_id FOREIGN KEY(owner_id) REFERENCES users (id)
);
INSERT INTO "tools" VALUES('4f56c6ab4df05007b19254f29c273c7e',1,'2026-11-19 21:03:46.014382','2026-11-19 21:03:46.014382',0,NULL,'01a1f59f63037040b8ccf43992fdb3c1','math_eval','Evaluates one arithmetic expression and returns the number. Use it for any calculation beyond trivial mental arithmetic instead of working it out yourself. Operators: + - * / // (floor division) % (modulo, not percent) ^ or ** (power) and ! (factorial). Constants: pi, e, tau. Functions: sqrt, cbrt, abs, round, floor, ceil, trunc, sign, exp, log, ln, log2, log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, min, max, sum, mean, pow, mod, gcd, lcm, factorial, hypot, degrees, radians. Angles are in radians; log is natural unless written log(x, base). There are no variables, comparisons, lists or units, and numbers are written without thousands separators.','builtin','{"operation": "math_eval"}','{"type": "object", "properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "The expression to evaluate.", "examples": ["2+2", "(1 + 0.05)^10 * 1000", "sqrt(3^2 + 4^2)", "sin(radians(30))"]}}, "required": ["expression"], "examples": [{"expression": "(1 + 0.05)^10 * 1000"}]}','{"type": "object", "properties": {"result": {"type": "number", "description": "The value; whole numbers beyond 64 bits are rounded to a floating-point number."}}, "required": ["result"]}',NULL,NULL,1,1,1,'Calculator','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('6b6d2eda2c7950659ce66502d73cc282',1,'2026-11-19 21:03:46.014382','2026-11-19 21:03:46.014382',0,NULL,'01a1f59f63037040b8ccf43992fdb3c1','echo','Returns exactly the arguments it was called with, under `echo`. Use it to check that tool calls work and how your arguments arrive; it does nothing else.','builtin','{"operation": "echo"}','{"type": "object", "additionalProperties": true, "examples": [{"message": "hello"}]}','{"type": "object", "properties": {"echo": {"type": "object", "description": "The arguments of the call."}}, "required": ["echo"]}',NULL,NULL,1,1,1,'Echo','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('85f568ed8cd35e11a508d3927f353e28',1,'2026-11-19 21:03:46.014382','2026-11-19 21:03:46.014382',0,NULL,'01a1f59f63037040b8ccf43992fdb3c1','calculate_rsi','Calculates the relative strength index (RSI) of a series of prices, with Wilder''s smoothing, and says whether the last value is overbought or oversold. Give the closing prices oldest first, at least period + 1 of them; around 100 or more make the smoothing settle. It fetches no prices: you must have them already.','builtin','{"operation": "calculate_rsi"}','{"type": "object", "properties": {"prices": {"type": "array", "items": {"type": "number", "minimum": -1e+300, "maximum": 1e+300}, "minItems": 2, "maxItems": 100000, "description": "Closing prices, oldest first; at least period + 1.", "examples": [[44.34, 44.09, 44.15, 43.61, 44.33]]}, "period": {"type": "integer", "minimum": 1, "maximum": 99999, "default": 14, "description": "How many price changes are averaged; 14 is usual."}, "overbought": {"type": "number", "minimum": 0, "maximum": 100, "default": 70, "description": "The RSI from which on the answer''s `overbought` is true."}, "oversold": {"type": "number", "minimum": 0, "maximum": 100, "default": 30, "description": "The RSI down from which the answer''s `oversold` is true."}, "include_series": {"type": "boolean", "default": true, "description": "false leaves `series` out of the answer: shorter when only the last value matters."}}, "required": ["prices"], "examples": [{"prices": [44.34, 44.09, 44.15, 43.61, 44.33], "period": 3}]}','{"type": "object", "properties": {"rsi": {"type": "number", "minimum": 0, "maximum": 100, "description": "The RSI at the last price."}, "overbought": {"type": "boolean", "description": "Whether `rsi` is at or above the threshold."}, "oversold": {"type": "boolean", "description": "Whether `rsi` is at or below the threshold."}, "period": {"type": "integer", "description": "The period that was used."}, "series": {"type": "array", "items": {"type": ["number", "null"]}, "description": "The RSI at every price, as many as `prices`; null for the first `period` of them."}}, "required": ["rsi", "overbought", "oversold", "period"]}',NULL,NULL,1,1,1,'Calculate RSI','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('41a86778e8bd54c69de12c75630f7f9e',1,'2026-11-19 21:03:46.014382','2026-11-19 21:03:46.014382',0,NULL,'01a1f59f63037040b8ccf43992fdb3c1','current_time','Returns the current date, time and weekday, in UTC or in the time zone you name. Call it whenever an answer depends on what day or time it is now; you cannot know that otherwise.','builtin','{"operation": "current_time"}','{"type": "object", "properties": {"timezone": {"type": "string", "maxLength": 64, "default": "UTC", "description": "An IANA time zone name.", "examples": ["UTC", "Europe/Berlin", "America/New_York"]}}, "examples": [{}, {"timezone": "Europe/Berlin"}]}','{"type": "object", "properties": {"iso": {"type": "string", "format": "date-time", "description": "ISO 8601, with the zone''s offset."}, "unix": {"type": "integer", "description": "Seconds since 1970-01-01T00:00:00Z."}, "timezone": {"type": "string", "description": "The time zone of `iso`, `date`, `time` and `weekday`."}, "abbreviation": {"type": ["string", "null"], "description": "What the zone is called now, such as CEST."}, "date": {"type": "string", "format": "date"}, "time": {"type": "string", "description": "HH:MM:SS, on a 24-hour clock."}, "weekday": {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]}}, "required": ["iso", "unix", "timezone", "date", "time", "weekday"]}',NULL,NULL,1,1,1,'Current Time','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('9e60bc7b2e6952c6bbf20b00e3006074',1,'2026-11-19 21:03:46.014382','2026-11-19 21:03:46.014382',0,NULL,'01a1f59f63037040b8ccf43992fdb3c1','json_query','Selects, filters, sorts and reshapes parts of a JSON value with a JMESPath query, and returns what it finds; null where nothing matches. Use it to get a few values out of a large JSON result without copying it by hand. Numbers in a query stand in backticks (`10`), strings in single quotes (''red''). It has no arithmetic.','builtin','{"operation": "json_query"}','{"type": "object", "properties": {"data": {"description": "The JSON value to query: an object or array, not a string with JSON in it."}, "query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The JMESPath expression.", "examples": ["items[0].name", "items[?price > `10`].{name: name, price: price}", "sort_by(items, &price)[-1]", "length(items)"]}}, "required": ["data", "query"], "examples": [{"data": {"items": [{"name": "a", "price": 5}, {"name": "b", "price": 20}]}, "query": "items[?price > `10`]"}]}','{"type": "object", "properties": {"result": {"description": "What the query selects; null where nothing matches."}}, "required": ["result"]}',NULL,NULL,1,1,1,'JSON Query','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('492cf430bf41555ebdbdf302bf383784',1,'2026-11-19 21:03:46.014382','2026-11-19 21:03:46.014382',0,NULL,'01a1f59f63037040b8ccf43992fdb3c1','query_baseline','Return whether a finding is new, recurring or resolved, since when, and how often it was seen. Read-only.','internal','{"handler": "query_baseline"}','{"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "query_type": {"type": "string", "enum": ["baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": ["finding_id", "composite_hash", "query_type"], "additionalProperties": false}','{"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}',NULL,NULL,1,1,1,'Query baseline','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('3d387905ae305c2882a8c97f9e4aa8d1',1,'2026-11-19 21:03:46.014382','2026-11-19 21:03:46.014382',0,NULL,'01a1f59f63037040b8ccf43992fdb3c1','batch_baseline_query','Return whether each of up to 10,000 findings is known, in the order of the request. Read-only.','internal','{"handler": "batch_baseline_query"}','{"type": "object", "properties": {"finding_ids": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "maxItems": 10000, "description": "What you call the findings"}, "composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "Their hashes, one for each of finding_ids in the same order"}, "query_type": {"type": "string", "enum": ["batch_baseline_check", "baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the same answer"}, "batch_size": {"type": "integer", "minimum": 1, "maximum": 10000, "description": "How many are looked up in one statement; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": ["finding_ids", "composite_hashes", "query_type"], "additionalProperties": false}','{"type": "object", "properties": {"results": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}}}, "required": ["results"], "additionalProperties": false}',NULL,NULL,1,1,1,'Query baseline for many','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,1,0,0,33554432,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('86374af31257591dbc5f4666a9fd2d72',1,'2026-11-19 21:03:46.014382','2026-11-19 21:03:46.014382',0,NULL,'01a1f59f63037040b8ccf43992fdb3c1','record_findings','Record that findings were seen. Each call counts as one sighting; a resolved finding that is seen again recurs.','internal','{"handler": "record_findings"}','{"type": "object", "properties": {"findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["finding_id", "composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "What was seen"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": ["findings"], "additionalProperties": false}','{"type": "object", "properties": {"recorded": {"type": "integer", "minimum": 0}, "new": {"type": "integer", "minimum": 0}, "recurring": {"type": "integer", "minimum": 0}, "reopened": {"type": "integer", "minimum": 0}}, "required": ["recorded", "new", "recurring", "reopened"], "additionalProperties": false}',NULL,NULL,1,1,1,'Record findings','["baseline"]',NULL,'ignore','envelope',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('42944903dad95a33ae7df27da4aa4324',1,'2026-11-19 21:03:46.014382','2026-11-19 21:03:46.014382',0,NULL,'01a1f59f63037040b8ccf43992fdb3c1','resolve_findings','Mark findings as resolved until they are seen again. Pass either composite_hashes or findings.','internal','{"handler": "resolve_findings"}','{"type": "object", "properties": {"composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "The hashes of the findings"}, "findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "The findings"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": [], "additionalProperties": false}','{"type": "object", "properties": {"resolved": {"type": "integer", "minimum": 0}, "already_resolved": {"type": "integer", "minimum": 0}, "unknown": {"type": "integer", "minimum": 0}}, "required": ["resolved", "already_resolved", "unknown"], "additionalProperties": false}',NULL,NULL,1,1,1,'Resolve findings','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,0,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('01a1f59f64e7751e92b733afefb7d7e0',2,'2026-11-19 21:03:46.407316','2026-11-19 21:03:46.407316',0,NULL,'01a1f59f63037040b8ccf43992fdb3c1','kept','Golden kept','mock','{"mock_response": {"sky": "clear"}}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,1,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('01a1f59f6524785c8fba061bb02812e6',3,'2026-11-19 21:03:46.468517','2026-11-19 21:03:46.468517',0,NULL,'01a1f59f63037040b8ccf43992fdb3c1','limited','Golden limited','mock','{"mock_response": 1}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,'{"max_calls": 1, "period": "hour", "burst": null, "scope": "caller"}',1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('01a1f59f68807b38b6cceebe892d949c',8,'2026-11-19 21:03:47.328693','2026-11-19 21:03:47.328693',0,NULL,'01a1f59f63037040b8ccf43992fdb3c1','note','Golden note','table','{"tableName": "notes", "fields": [{"name": "text", "dataType": "text"}]}','{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"text": {"type": ["string", "null"]}}, "required": [], "additionalProperties": false}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'reject','detailed',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('01a1f59f689a749d9210d56607610332',9,'2026-11-19 21:03:47.354284','2026-11-19 21:03:47.354284',0,NULL,'01a1f59f63037040b8ccf43992fdb3c1','print','Golden print','python','{"code": "def show(text: str) -> str:\n    print(''printed'', text)\n    return text\n"}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel',NULL);
CREATE TABLE users (
	id CHAR(32) NOT NULL, 
	revision BIGINT NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	is_deleted BOOLEAN NOT NULL, 
	deleted_at DATETIME, 
	name VARCHAR(255) NOT NULL, 
	role VARCHAR(20) NOT NULL, mac VARCHAR(64) DEFAULT '' NOT NULL, 
	CONSTRAINT pk_users PRIMARY KEY (id), 
	CONSTRAINT ck_users_role CHECK (role IN ('admin', 'member'))
);
INSERT INTO "users" VALUES('01a1f59f63037040b8ccf43992fdb3c1',1,'2026-11-19 21:03:45.923009','2026-11-19 21:03:45.923009',0,NULL,'admin','admin','1d0b02772771e2b685d0ec571076ab8ba9e4f71356754881b5ba6dfd36aadaa9');
INSERT INTO "users" VALUES('01a1f59f670b7965b4105294991522bd',4,'2026-11-19 21:03:46.955579','2026-11-19 21:03:46.955579',0,NULL,'ada','member','175c6cb1f001b50bc55846acfaaf9327cf0cdc1bc7971627e78257a4a7930e04');
CREATE TABLE verifications (
	id INTEGER NOT NULL, 
	started_at DATETIME NOT NULL, 
	finished_at DATETIME NOT NULL, 
	checked BIGINT NOT NULL, 
	findings TEXT NOT NULL, 
	caller TEXT NOT NULL, 
	mac VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_verifications PRIMARY KEY (id), 
	CONSTRAINT ck_verifications_single CHECK (id = 1)
);
CREATE TABLE writers (
	number INTEGER NOT NULL, 
	id CHAR(32) NOT NULL, 
	host TEXT NOT NULL, 
	pid INTEGER NOT NULL, 
	started_at DATETIME NOT NULL, 
	closed_at DATETIME, 
	beat BIGINT NOT NULL, 
	seq BIGINT NOT NULL, 
	mac VARCHAR(32) NOT NULL, 
	signature VARCHAR(32) NOT NULL, 
	pruned_seq BIGINT NOT NULL, 
	pruned_mac VARCHAR(32) NOT NULL, 
	pruned_signature VARCHAR(32) NOT NULL, 
	counted_seq BIGINT NOT NULL, 
	CONSTRAINT pk_writers PRIMARY KEY (number), 
	CONSTRAINT uq_writer_id UNIQUE (id)
);
INSERT INTO "writers" VALUES(1,'01a1f59f63bf70c8aa0a54c95a5690d4','vm',17535,'2026-11-19 21:03:46.291452','2026-11-19 21:03:58.586945',32,23,'ca261f5d99a0547a180c796dd83ae676','46a7a6892430545aabd4b8d40b5faa4c',3,'b35565d37ca1450337e3569cc0799992','60bdaa4f5a3b0290b61cd06f04a2acd5',23);
INSERT INTO "writers" VALUES(2,'01a1f59f63be7feba9714016a2290988','vm',17535,'2026-11-19 21:03:47.373567','2026-11-19 21:03:58.595761',4,1,'f0e1c82601430b8ac2c44a5fcc30c0f4','be7286e61b7d49bd70ddf5b8d464ab7f',0,'','',1);
INSERT INTO "writers" VALUES(3,'01a1f59f91d0780988cb815d430362ea','vm',18780,'2026-11-19 21:03:57.963506','2026-11-19 21:03:58.438515',1,0,'','f9d77010c2ed13d34012856c9fc3cdab',0,'','',0);
INSERT INTO "writers" VALUES(4,'01a1f59f92347efc9ba26e9202227663','vm',17535,'2026-11-19 21:03:58.438964','2026-11-19 21:03:58.567719',2,1,'60fa47100d26c52ea992e46fa75007f2','b8f88bcb6369a5edfb6e3fbe8d0d4ec4',0,'','',1);
INSERT INTO "writers" VALUES(5,'01a1f59fb63c73c195ef64ea4b974457','vm',19046,'2026-11-19 21:04:07.835551','2026-11-19 21:04:07.849272',2,1,'cd9b7a21c65ed4f3bb5154c438f0a44d','b52e06eeb0001e4ee353987d83715c97',0,'','',1);
CREATE UNIQUE INDEX uq_user_name ON users (lower(name)) WHERE is_deleted IS FALSE;
CREATE INDEX idx_user_revision ON users (revision);
CREATE UNIQUE INDEX uq_agent_name ON agents (owner_id, lower(name)) WHERE is_deleted IS FALSE;
CREATE INDEX idx_agent_revision ON agents (revision);
CREATE INDEX idx_key_user ON api_keys (user_id);
CREATE INDEX idx_key_revision ON api_keys (revision);
CREATE INDEX idx_secret_revision ON secrets (revision);
CREATE INDEX idx_execution_name ON executions (tool_name, id);
CREATE INDEX idx_execution_caller ON executions (caller_id, id);
CREATE INDEX idx_execution_status ON executions (status, id) WHERE status <> 'succeeded';
CREATE INDEX idx_execution_name_status ON executions (tool_name, status, id) WHERE status <> 'succeeded';
CREATE INDEX idx_execution_caller_status ON executions (caller_id, status, id) WHERE status <> 'succeeded';
CREATE INDEX idx_execution_code ON executions (code, id) WHERE code IS NOT NULL;
CREATE UNIQUE INDEX uq_execution_link ON executions (writer, seq);
CREATE INDEX idx_intent_open ON intents (writer) WHERE state = 'open';
CREATE INDEX idx_intent_expires ON intents (expires_at);
CREATE INDEX idx_thread_owner ON threads (owner_id, updated_at, id);
CREATE INDEX idx_finding_resolved ON findings (owner_id, composite_hash) WHERE resolved_at IS NOT NULL;
CREATE INDEX idx_thread_agent ON threads (agent_id, updated_at, id);
CREATE UNIQUE INDEX uq_tool_name ON tools (lower(name)) WHERE is_deleted IS FALSE;
CREATE INDEX idx_tool_name ON tools (name) WHERE is_deleted IS FALSE;
CREATE INDEX idx_tool_type ON tools (tool_type) WHERE is_deleted IS FALSE;
CREATE INDEX idx_tool_active ON tools (is_active) WHERE is_deleted IS FALSE;
CREATE INDEX idx_tool_public ON tools (is_public) WHERE is_deleted IS FALSE;
CREATE INDEX idx_tool_owner_active ON tools (owner_id, is_active) WHERE is_deleted IS FALSE;
CREATE INDEX idx_tool_owner ON tools (owner_id) WHERE is_deleted IS FALSE;
CREATE INDEX idx_tool_revision ON tools (revision);
COMMIT;
