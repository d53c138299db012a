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
INSERT INTO "agents" VALUES('01a1ef8febeb7816932cfad070c0f7cb',6,'2026-11-18 16:49:09.099499','2026-11-18 16:49:09.099499',0,NULL,'01a1ef8febb175769d60d27993862bbf','helper',NULL,'[]');
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0012_signed_intents');
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
	revoked_at DATETIME, mac VARCHAR(64) DEFAULT '' NOT NULL, created_by CHAR(32), 
	CONSTRAINT pk_api_keys PRIMARY KEY (id), 
	CONSTRAINT uq_key_hash UNIQUE (key_hash), 
	CONSTRAINT fk_api_keys_user_id FOREIGN KEY(user_id) REFERENCES users (id), 
	CONSTRAINT fk_api_keys_agent_id FOREIGN KEY(agent_id) REFERENCES agents (id)
);
INSERT INTO "api_keys" VALUES('01a1ef8fe8f9728dbb1979743547b93b',1,'2026-11-18 16:49:08.337447','01a1ef8fe8d27a7b89139b61c1a24ce5','PEGBOARD_ADMIN_KEY','','187b6799b5e40d24c0cda3bc3d3ef8a504d34ac5177b8e6ebb41984ace3f3c27',NULL,NULL,NULL,'92f926660cf02d903d74de55fb6aa764a67e363207ab80162a11951189a6a5f9',NULL);
INSERT INTO "api_keys" VALUES('01a1ef8febd17b6e979e7bbe4ab96bcd',5,'2026-11-18 16:49:09.073705','01a1ef8febb175769d60d27993862bbf','laptop','pb_AiUI_','49706882fef3802a362d7a4fde2a50c48a8e9e27003578509c18b0710d90eb12',NULL,NULL,NULL,'5e1c3493fc7f98abf51f7379c857aee0999e0c88b6bc22524206efcd9d32bc9d','01a1ef8fe8d27a7b89139b61c1a24ce5');
INSERT INTO "api_keys" VALUES('01a1ef8fec6d7af6a010d688ac156fda',7,'2026-11-18 16:49:09.229679','01a1ef8febb175769d60d27993862bbf','robot','pb_UASMO','c58bc3a78d321fbac00c79821e309d37153453436e1bf7e23bd7dac0e79f7100','01a1ef8febeb7816932cfad070c0f7cb',NULL,NULL,'ff7c98cb2682355fa49096c2f9907415fde770b3a64f6755f7105b4f5620c7bc','01a1ef8fe8d27a7b89139b61c1a24ce5');
CREATE TABLE board_state (
	id INTEGER NOT NULL, 
	revision BIGINT NOT NULL, writers INTEGER DEFAULT '0' NOT NULL, writers_signature VARCHAR(32) DEFAULT '' NOT NULL, 
	CONSTRAINT pk_board_state PRIMARY KEY (id), 
	CONSTRAINT ck_board_state_single CHECK (id = 1)
);
INSERT INTO "board_state" VALUES(1,12,3,'b8e780db4d2a142d26b74ae63558f76d');
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
INSERT INTO "execution_counts" VALUES(498616,'','','refused','tool_not_found',82,1);
INSERT INTO "execution_counts" VALUES(498616,'','','refused','tool_not_found',93,1);
INSERT INTO "execution_counts" VALUES(498616,'','dies','in_doubt','in_doubt',101,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',74,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',76,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',83,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',84,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',87,2);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',88,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',110,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',114,1);
INSERT INTO "execution_counts" VALUES(498616,'','fails','failed','execution_failed',155,1);
INSERT INTO "execution_counts" VALUES(498616,'','kept','refused','missing',104,1);
INSERT INTO "execution_counts" VALUES(498616,'','kept','succeeded','',110,1);
INSERT INTO "execution_counts" VALUES(498616,'','limited','refused','rate_limited',85,1);
INSERT INTO "execution_counts" VALUES(498616,'','limited','succeeded','',110,1);
INSERT INTO "execution_counts" VALUES(498616,'','math_eval','failed','execution_failed',110,1);
INSERT INTO "execution_counts" VALUES(498616,'','math_eval','succeeded','',98,1);
INSERT INTO "execution_counts" VALUES(498616,'','note','succeeded','',162,1);
INSERT INTO "execution_counts" VALUES(498616,'','once','refused','idempotency_conflict',141,1);
INSERT INTO "execution_counts" VALUES(498616,'','once','succeeded','',135,2);
INSERT INTO "execution_counts" VALUES(498616,'','print','succeeded','',231,1);
INSERT INTO "execution_counts" VALUES(498616,'','replaced','succeeded','',141,1);
INSERT INTO "execution_counts" VALUES(498616,'','tried','failed','contract_violation',188,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','','refused','tool_not_found',93,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','dies','in_doubt','in_doubt',101,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','echo','succeeded','',74,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','echo','succeeded','',83,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','echo','succeeded','',87,2);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','echo','succeeded','',88,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','echo','succeeded','',110,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','echo','succeeded','',114,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','fails','failed','execution_failed',155,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','kept','refused','missing',104,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','kept','succeeded','',110,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','limited','refused','rate_limited',85,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','limited','succeeded','',110,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','math_eval','failed','execution_failed',110,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','math_eval','succeeded','',98,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','note','succeeded','',162,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','once','refused','idempotency_conflict',141,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','once','succeeded','',135,2);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','print','succeeded','',231,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','replaced','succeeded','',141,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','tried','failed','contract_violation',188,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8f-ebb1-7576-9d60-d27993862bbf','','refused','tool_not_found',82,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8f-ebb1-7576-9d60-d27993862bbf','echo','succeeded','',76,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8f-ebb1-7576-9d60-d27993862bbf','echo','succeeded','',84,1);
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
INSERT INTO "executions" VALUES('01a1ef8fea9874f4a6f84e39b1b29a23','echo','succeeded','2026-11-18 16:49:08.760306','2026-11-18 16:49:08.760518',0.175,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef8f-ea98-74f4-a6f8-4e39b1b29a23',NULL,NULL,'34781090dddba323f128384e1e7faba7',NULL,NULL,NULL,NULL,NULL,NULL,1,4,'a5bd5f35980e3c3e950fa699a669c0e6',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8feaa07603bf5d67fd7412188c','kept','succeeded','2026-11-18 16:49:08.768369','2026-11-18 16:49:08.769150',0.734,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','admin','library','plain',1,'01a1ef8f-ea20-7fec-a158-2f73840ee006',1,'mock',NULL,NULL,'01a1ef8f-eaa0-7603-bf5d-67fd7412188c',NULL,NULL,'cfb4f6353d44afd4324a866dfc0e6d5d','{"text":"a ☃ and a 😀, \"quoted\", \\ and a\nline","number":-1.5e+300}',NULL,NULL,NULL,NULL,NULL,1,5,'07f6975ac3e60c019af7031c53796492',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8feaa57c809a729515be277e3a','fails','failed','2026-11-18 16:49:08.773776','2026-11-18 16:49:08.784699',10.873,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','admin','library','plain',1,'292d6f6c-a238-532d-ba7c-02469f556f4e',1,'internal',NULL,NULL,'01a1ef8f-eaa5-7c80-9a72-9515be277e3a','execution_failed','cannot do a ☃ and a 😀, "quoted", \ and a
line','34781090dddba323f128384e1e7faba7',NULL,NULL,NULL,NULL,NULL,NULL,1,6,'fa9f730b94b982e9381a5bc82d3fab8a',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8feab8752ea1579b5fe840e39e','math_eval','failed','2026-11-18 16:49:08.792316','2026-11-18 16:49:08.793055',0.703,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','admin','library','plain',1,'4f56c6ab-4df0-5007-b192-54f29c273c7e',1,'builtin',NULL,NULL,'01a1ef8f-eab8-752e-a157-9b5fe840e39e','execution_failed','Division by zero at position 2; change the divisor','5b5caf19c1af1d2ea29feee6bcfe4539',NULL,NULL,NULL,NULL,NULL,NULL,1,7,'6927de95f384e26d1218a9e282e68d2d',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8feac075439636075edc77cee3','kept','refused','2026-11-18 16:49:08.800320','2026-11-18 16:49:08.800848',0.484,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','admin','library','plain',0,'01a1ef8f-ea20-7fec-a158-2f73840ee006',1,'mock',NULL,NULL,'01a1ef8f-eac0-7543-9636-075edc77cee3','missing','Invalid parameters: missing ''text''',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,8,'4d0ff2ad3971e0d8ad04638e8cb52ef5',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8feac472c1871ae793755ea2dc','no_such_tool','refused','2026-11-18 16:49:08.804167','2026-11-18 16:49:08.804456',0.26,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','admin','library','plain',0,NULL,NULL,NULL,NULL,NULL,'01a1ef8f-eac4-72c1-871a-e793755ea2dc','tool_not_found','Tool ''no_such_tool'' not found',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,9,'473dcdadc9db450c546aeda000738ff8',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8feac87408a67fb4a212e8a459','limited','succeeded','2026-11-18 16:49:08.808246','2026-11-18 16:49:08.809007',0.726,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','admin','library','plain',1,'01a1ef8f-ea7d-790f-a50f-7de30556c79e',1,'mock',NULL,NULL,'01a1ef8f-eac8-7408-a67f-b4a212e8a459',NULL,NULL,'cee4b130c1f7e24f1e520502237acd9c',NULL,NULL,NULL,NULL,NULL,NULL,1,10,'50d2aed37ce8a5ad1282b7766f87d074',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8feacc73be981acfef0a1fd04a','limited','refused','2026-11-18 16:49:08.812228','2026-11-18 16:49:08.812421',0.158,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','admin','library','plain',0,'01a1ef8f-ea7d-790f-a50f-7de30556c79e',1,'mock',NULL,NULL,'01a1ef8f-eacc-73be-981a-cfef0a1fd04a','rate_limited','Rate limit of ''limited'' reached: 1 call per hour; try again in 3600 s','84c18c59564e8cf54645fcab96394eef',NULL,NULL,NULL,NULL,NULL,NULL,1,11,'33646bcbbbb472f5fca8fbc2d129f32a',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8fec78727bb4008413c50b676d','echo','succeeded','2026-11-18 16:49:09.240149','2026-11-18 16:49:09.240334',0.152,'01a1ef8f-ebb1-7576-9d60-d27993862bbf','ada','rest','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin','01a1ef8f-ebd1-7b6e-979e-7bbe4ab96bcd',NULL,'request-1',NULL,NULL,'e5598e44f031b33ae544730174612a72',NULL,NULL,NULL,NULL,NULL,NULL,1,12,'b5a7c5937db43a353201507c082ee8fb',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8fec797f239b4de083713ddfe5','echo','refused','2026-11-18 16:49:09.241942','2026-11-18 16:49:09.242096',0.134,'01a1ef8f-ebb1-7576-9d60-d27993862bbf','ada','rest','plain',0,NULL,NULL,NULL,'01a1ef8f-ec6d-7af6-a010-d688ac156fda','01a1ef8f-ebeb-7816-932c-fad070c0f7cb','01a1ef8f-ec79-7f23-9b4d-e083713ddfe5','tool_not_found','Tool ''echo'' not found',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,13,'62b59407c0b99a1eb44e409f49c2b44b',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8fec7c7464995d57cf7387d414','echo','succeeded','2026-11-18 16:49:09.244271','2026-11-18 16:49:09.244386',0.093,'01a1ef8f-ebb1-7576-9d60-d27993862bbf','ada','rest','openai_chat',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin','01a1ef8f-ebd1-7b6e-979e-7bbe4ab96bcd',NULL,'01a1ef8f-ec7b-7fd1-8dad-077016875559',NULL,NULL,'8e910730f74e2980547217394905db78',NULL,NULL,NULL,NULL,NULL,NULL,1,14,'766fb59890585b949e6a1bdeded43399',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8fec7f75ee8bc7f111ded68eaa','once','succeeded','2026-11-18 16:49:09.247367','2026-11-18 16:49:09.250721',3.293,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','admin','library','plain',1,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1ef8f-ec7f-75ee-8bc7-f111ded68eaa',NULL,NULL,'382891724a297836b7bdbf13687493d1',NULL,NULL,NULL,NULL,NULL,'"A"',1,15,'d5c16c61d487ba765af180b28e74ee70',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8fec8878448e1560a94a893ead','once','succeeded','2026-11-18 16:49:09.256508','2026-11-18 16:49:09.267757',3.293,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','admin','library','plain',0,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1ef8f-ec88-7844-8e15-60a94a893ead',NULL,NULL,'382891724a297836b7bdbf13687493d1',NULL,NULL,NULL,NULL,'01a1ef8f-ec7f-75ee-8bc7-f111ded68eaa','"A"',1,16,'841f6307754b6015c87318b438e69238',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8fec9576b982aa3fba8039fd44','once','refused','2026-11-18 16:49:09.269413','2026-11-18 16:49:09.274058',4.583,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','admin','library','plain',0,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1ef8f-ec95-76b9-82aa-3fba8039fd44','idempotency_conflict','This idempotency key was used for ''once'' with other arguments; send the same arguments again, or a new key for a new call','ff4ece8974c5bf0b70c9a5e2a9c35e78',NULL,NULL,NULL,NULL,NULL,NULL,1,17,'e1652ba84c08f3426dd82b236f4cc3ce',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8fecb774e0995a299750b7e177','tried','failed','2026-11-18 16:49:09.303298','2026-11-18 16:49:09.381782',78.429,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','admin','library','plain',2,'47fe7a73-0ae4-5d70-aa28-58a231407683',1,'internal',NULL,NULL,'01a1ef8f-ecb7-74e0-995a-299750b7e177','contract_violation','The tool''s output breaks its output schema: The output must be an integer','6568b99e925cb96a2eeeabfad5c8eb13',NULL,NULL,NULL,NULL,NULL,NULL,1,18,'fff2177d26c536f1142abc1fcc860886',NULL,'[{"attempt":1,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":1.312},{"attempt":2,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":42.518}]');
INSERT INTO "executions" VALUES('01a1ef8fed4b7c75a9324b701fbf7e50','replaced','succeeded','2026-11-18 16:49:09.451770','2026-11-18 16:49:09.456283',4.477,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','admin','library','plain',2,'0b58c42c-a575-56ea-8e61-45f3fdeaeca4',1,'internal',NULL,NULL,'01a1ef8f-ed4b-7c75-a932-4b701fbf7e50',NULL,NULL,'6568b99e925cb96a2eeeabfad5c8eb13',NULL,NULL,NULL,NULL,NULL,NULL,1,19,'8bcb41f552a49dc8ea3384508ab31bd1',NULL,'[{"attempt":1,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":1.113},{"attempt":2,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":0.376}]');
INSERT INTO "executions" VALUES('01a1ef8fed84720d85bf8f672899a403','note','succeeded','2026-11-18 16:49:09.508121','2026-11-18 16:49:09.524469',16.3,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','admin','library','plain',1,'01a1ef8f-ed57-755e-b1dc-fb611bd4908f',1,'table',NULL,NULL,'01a1ef8f-ed84-720d-85bf-8f672899a403',NULL,NULL,'55aaaa6c27382ea1b19961e8734333dd',NULL,'1',NULL,NULL,NULL,NULL,1,20,'dc1fefa22c1dbe41404a71ab844e479e',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8fed9c759992231d6f01f53524','print','succeeded','2026-11-18 16:49:09.532342','2026-11-18 16:49:10.569460',1037.064,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','admin','library','plain',1,'01a1ef8f-ed73-7b49-8bc8-224d5ce8d225',1,'python',NULL,NULL,'01a1ef8f-ed9c-7599-9223-1d6f01f53524',NULL,NULL,'f662765bd158c5d403b1148b5acd5b7e',NULL,NULL,NULL,NULL,NULL,NULL,1,21,'5ff84452c436221b0d08fa084bd3570f','printed text
',NULL);
INSERT INTO "executions" VALUES('01a1ef8ff1ac746294a09490a4c9f7ba','math_eval','succeeded','2026-11-18 16:49:10.572301','2026-11-18 16:49:10.572677',0.348,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','admin','library','plain',1,'4f56c6ab-4df0-5007-b192-54f29c273c7e',1,'builtin',NULL,NULL,'01a1ef8f-f1ac-7462-94a0-9490a4c9f7ba',NULL,NULL,'a90eb634309eae6b43f870b1fde56b8e',NULL,NULL,'01a1ef8f-f1ac-70c1-af81-2f5be6c2af7d',NULL,NULL,NULL,1,22,'53ea2e0b48029dd240e150855411327f',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8ff1b0756996bd099a74c0f8f0','echo','succeeded','2026-11-18 16:49:10.576363','2026-11-18 16:49:10.576463',0.082,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef8f-f1b0-7569-96bd-099a74c0f8f0',NULL,NULL,'322e295559d84b360a273db85246481b',NULL,NULL,'01a1ef8f-f1ac-70c1-af81-2f5be6c2af7d',NULL,NULL,NULL,1,23,'1b46ec32343c415f50567fd4ecb8a342',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8ff1c4757491badab6103bdafc','echo','succeeded','2026-11-18 16:49:10.596334','2026-11-18 16:49:10.596512',0.142,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef8f-f1c4-7574-91ba-dab6103bdafc',NULL,NULL,'dbfab183c92acbc29c28ab1e87b5d635',NULL,NULL,NULL,'01a1ef8f-f1b1-7755-abaf-684046b56202',NULL,NULL,1,24,'42e56f7e232e122297f804d62d15fe3b',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef9019b57cb78aceaa472b19278b','dies','in_doubt','2026-11-18 16:49:20.821788','2026-11-18 16:49:21.082541',0.429,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','admin','library','plain',1,'301f3051-930d-5d5d-ae86-e078a5b82b33',1,'internal',NULL,NULL,'01a1ef90-19b5-7cb7-8ace-aa472b19278b','in_doubt','The server ended while this call was running; whether it took effect is not known','6568b99e925cb96a2eeeabfad5c8eb13',NULL,NULL,NULL,NULL,NULL,NULL,1,25,'9da50ba3e31cb5861f82c3239ae68583',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef903a2b7418a7dc8719ca2c059e','echo','succeeded','2026-11-18 16:49:29.131249','2026-11-18 16:49:29.132181',0.884,'01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5','admin','cli','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef90-3a2b-7418-a7dc-8719ca2c059e',NULL,NULL,'9f437b46724e6f9439bf0e7504e5fb13',NULL,NULL,NULL,NULL,NULL,NULL,3,1,'3ae38eb7f3b7adcc2e8739d84e02df99',NULL,NULL);
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
INSERT INTO "intents" VALUES('01a1ef8fec7f75ee8bc7f111ded68eaa',1,'done','',0,'2af027841b55c7ded8a4aab229faad0a2fb39b810a2b5ab029ce25143b12c628','382891724a297836b7bdbf13687493d1','pb1:b3457b1d:bJHht-uvemLjS5iT-xlwwmEAePsIQ4St8xB6wfWdeZeaZ4rw1B6mYkkwZydNFN_YuMESd2hoYy-zrSH_MwXN_USbg9yR_RxYviGpHw_xtvf__YHDOuGMTktomYHnbZgzQDmiP0H8T3g4AV92BnWjuFDyy9GeV7ox2RLj8hFIzNsATufC8eX3','2026-11-19 16:49:09.247655','0121bde4fabf79a933c16f064855ed07','52f36e6afe7525454c729a510714620d',NULL);
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
INSERT INTO "messages" VALUES('01a1ef8ff1b17755abaf684046b56202',0,'01a1ef8ff1d075cc9ef6321491bc0c38','assistant',NULL,'2026-11-18 16:49:10.600228','[{"id":"call_01a1ef8ff1c4757491badab6103bdafc","name":"echo","arguments":{"text":"thread"},"result":{"echo":{"text":"thread"}},"duration_ms":0.142,"attempts":1,"run_id":"01a1ef8f-f1c4-7574-91ba-dab6103bdafc","result_valid":true}]','plain',NULL);
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
INSERT INTO "secrets" VALUES('01a1ef8fe8da79c7966ed61cc27999a2',1,'2026-11-18 16:49:08.314604','2026-11-18 16:49:08.314604','01a1ef8fe8d27a7b89139b61c1a24ce5','$root','pb1:b3457b1d:L9Z7Q-zK2zbozLnbDIqfieZMR3VeA-piYme658M6EQ6NCe7JObiPPwaZqdi-oiSUa5By8ZSPL2aUZCazUVMSywrTGKMV3-oqCKdXBrrPrQ');
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
INSERT INTO "threads" VALUES('01a1ef8ff1b17755abaf684046b56202','01a1ef8fe8d27a7b89139b61c1a24ce5','golden',1,'2026-11-18 16:49:10.577456','2026-11-18 16:49:10.600435',NULL);
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
INSERT INTO "tool_versions" VALUES('01a1ef8fe91d77c790fec63fc4b2a3a9','4f56c6ab4df05007b19254f29c273c7e',1,'{"name": "math_eval", "tool_type": "builtin", "config": {"operation": "math_eval"}, "input_schema": {"type": "object", "properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "The expression to evaluate.", "examples": ["2+2", "(1 + 0.05)^10 * 1000", "sqrt(3^2 + 4^2)", "sin(radians(30))"]}}, "required": ["expression"], "examples": [{"expression": "(1 + 0.05)^10 * 1000"}]}, "description": "Evaluates one arithmetic expression and returns the number. Use it for any calculation beyond trivial mental arithmetic instead of working it out yourself. Operators: + - * / // (floor division) % (modulo, not percent) ^ or ** (power) and ! (factorial). Constants: pi, e, tau. Functions: sqrt, cbrt, abs, round, floor, ceil, trunc, sign, exp, log, ln, log2, log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, min, max, sum, mean, pow, mod, gcd, lcm, factorial, hypot, degrees, radians. Angles are in radians; log is natural unless written log(x, base). There are no variables, comparisons, lists or units, and numbers are written without thousands separators.", "output_schema": {"type": "object", "properties": {"result": {"type": "number", "description": "The value; whole numbers beyond 64 bits are rounded to a floating-point number."}}, "required": ["result"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Calculator", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:49:08.356194','01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5');
INSERT INTO "tool_versions" VALUES('01a1ef8fe91d78a89fee3238c5767783','6b6d2eda2c7950659ce66502d73cc282',1,'{"name": "echo", "tool_type": "builtin", "config": {"operation": "echo"}, "input_schema": {"type": "object", "additionalProperties": true, "examples": [{"message": "hello"}]}, "description": "Returns exactly the arguments it was called with, under `echo`. Use it to check that tool calls work and how your arguments arrive; it does nothing else.", "output_schema": {"type": "object", "properties": {"echo": {"type": "object", "description": "The arguments of the call."}}, "required": ["echo"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Echo", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:49:08.356194','01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5');
INSERT INTO "tool_versions" VALUES('01a1ef8fe91d78fea3fec7b1c9f1de56','85f568ed8cd35e11a508d3927f353e28',1,'{"name": "calculate_rsi", "tool_type": "builtin", "config": {"operation": "calculate_rsi"}, "input_schema": {"type": "object", "properties": {"prices": {"type": "array", "items": {"type": "number", "minimum": -1e+300, "maximum": 1e+300}, "minItems": 2, "maxItems": 100000, "description": "Closing prices, oldest first; at least period + 1.", "examples": [[44.34, 44.09, 44.15, 43.61, 44.33]]}, "period": {"type": "integer", "minimum": 1, "maximum": 99999, "default": 14, "description": "How many price changes are averaged; 14 is usual."}, "overbought": {"type": "number", "minimum": 0, "maximum": 100, "default": 70, "description": "The RSI from which on the answer''s `overbought` is true."}, "oversold": {"type": "number", "minimum": 0, "maximum": 100, "default": 30, "description": "The RSI down from which the answer''s `oversold` is true."}, "include_series": {"type": "boolean", "default": true, "description": "false leaves `series` out of the answer: shorter when only the last value matters."}}, "required": ["prices"], "examples": [{"prices": [44.34, 44.09, 44.15, 43.61, 44.33], "period": 3}]}, "description": "Calculates the relative strength index (RSI) of a series of prices, with Wilder''s smoothing, and says whether the last value is overbought or oversold. Give the closing prices oldest first, at least period + 1 of them; around 100 or more make the smoothing settle. It fetches no prices: you must have them already.", "output_schema": {"type": "object", "properties": {"rsi": {"type": "number", "minimum": 0, "maximum": 100, "description": "The RSI at the last price."}, "overbought": {"type": "boolean", "description": "Whether `rsi` is at or above the threshold."}, "oversold": {"type": "boolean", "description": "Whether `rsi` is at or below the threshold."}, "period": {"type": "integer", "description": "The period that was used."}, "series": {"type": "array", "items": {"type": ["number", "null"]}, "description": "The RSI at every price, as many as `prices`; null for the first `period` of them."}}, "required": ["rsi", "overbought", "oversold", "period"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Calculate RSI", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:49:08.356194','01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5');
INSERT INTO "tool_versions" VALUES('01a1ef8fe91d793a8197c81ea95db680','41a86778e8bd54c69de12c75630f7f9e',1,'{"name": "current_time", "tool_type": "builtin", "config": {"operation": "current_time"}, "input_schema": {"type": "object", "properties": {"timezone": {"type": "string", "maxLength": 64, "default": "UTC", "description": "An IANA time zone name.", "examples": ["UTC", "Europe/Berlin", "America/New_York"]}}, "examples": [{}, {"timezone": "Europe/Berlin"}]}, "description": "Returns the current date, time and weekday, in UTC or in the time zone you name. Call it whenever an answer depends on what day or time it is now; you cannot know that otherwise.", "output_schema": {"type": "object", "properties": {"iso": {"type": "string", "format": "date-time", "description": "ISO 8601, with the zone''s offset."}, "unix": {"type": "integer", "description": "Seconds since 1970-01-01T00:00:00Z."}, "timezone": {"type": "string", "description": "The time zone of `iso`, `date`, `time` and `weekday`."}, "abbreviation": {"type": ["string", "null"], "description": "What the zone is called now, such as CEST."}, "date": {"type": "string", "format": "date"}, "time": {"type": "string", "description": "HH:MM:SS, on a 24-hour clock."}, "weekday": {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]}}, "required": ["iso", "unix", "timezone", "date", "time", "weekday"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Current Time", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:49:08.356194','01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5');
INSERT INTO "tool_versions" VALUES('01a1ef8fe91d7976a68a8d5cc09085b8','9e60bc7b2e6952c6bbf20b00e3006074',1,'{"name": "json_query", "tool_type": "builtin", "config": {"operation": "json_query"}, "input_schema": {"type": "object", "properties": {"data": {"description": "The JSON value to query: an object or array, not a string with JSON in it."}, "query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The JMESPath expression.", "examples": ["items[0].name", "items[?price > `10`].{name: name, price: price}", "sort_by(items, &price)[-1]", "length(items)"]}}, "required": ["data", "query"], "examples": [{"data": {"items": [{"name": "a", "price": 5}, {"name": "b", "price": 20}]}, "query": "items[?price > `10`]"}]}, "description": "Selects, filters, sorts and reshapes parts of a JSON value with a JMESPath query, and returns what it finds; null where nothing matches. Use it to get a few values out of a large JSON result without copying it by hand. Numbers in a query stand in backticks (`10`), strings in single quotes (''red''). It has no arithmetic.", "output_schema": {"type": "object", "properties": {"result": {"description": "What the query selects; null where nothing matches."}}, "required": ["result"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "JSON Query", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:49:08.356194','01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5');
INSERT INTO "tool_versions" VALUES('01a1ef8fe91d79b2b5fae690b084dd2c','492cf430bf41555ebdbdf302bf383784',1,'{"name": "query_baseline", "tool_type": "internal", "config": {"handler": "query_baseline"}, "input_schema": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "query_type": {"type": "string", "enum": ["baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": ["finding_id", "composite_hash", "query_type"], "additionalProperties": false}, "description": "Whether a finding is known: new, recurring or resolved, since when and how often it was seen. Changes nothing.", "output_schema": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Query baseline", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:49:08.356194','01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5');
INSERT INTO "tool_versions" VALUES('01a1ef8fe91d79e6a404e2d8812cd31f','3d387905ae305c2882a8c97f9e4aa8d1',1,'{"name": "batch_baseline_query", "tool_type": "internal", "config": {"handler": "batch_baseline_query"}, "input_schema": {"type": "object", "properties": {"finding_ids": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "maxItems": 10000, "description": "What you call the findings"}, "composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "Their hashes, one for each of finding_ids in the same order"}, "query_type": {"type": "string", "enum": ["batch_baseline_check", "baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the same answer"}, "batch_size": {"type": "integer", "minimum": 1, "maximum": 10000, "description": "How many are looked up in one statement; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": ["finding_ids", "composite_hashes", "query_type"], "additionalProperties": false}, "description": "Whether each of up to 10,000 findings is known, in the order asked. Changes nothing.", "output_schema": {"type": "object", "properties": {"results": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}}}, "required": ["results"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Query baseline for many", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": 33554432, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:49:08.356194','01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5');
INSERT INTO "tool_versions" VALUES('01a1ef8fe91d7a0ebec6899827b70b3a','86374af31257591dbc5f4666a9fd2d72',1,'{"name": "record_findings", "tool_type": "internal", "config": {"handler": "record_findings"}, "input_schema": {"type": "object", "properties": {"findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["finding_id", "composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "What was seen"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": ["findings"], "additionalProperties": false}, "description": "Keep that findings were seen, each time it is called once more; a resolved one that is seen again recurs.", "output_schema": {"type": "object", "properties": {"recorded": {"type": "integer", "minimum": 0}, "new": {"type": "integer", "minimum": 0}, "recurring": {"type": "integer", "minimum": 0}, "reopened": {"type": "integer", "minimum": 0}}, "required": ["recorded", "new", "recurring", "reopened"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Record findings", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:49:08.356194','01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5');
INSERT INTO "tool_versions" VALUES('01a1ef8fe91d7a3693f53f6b50f15578','42944903dad95a33ae7df27da4aa4324',1,'{"name": "resolve_findings", "tool_type": "internal", "config": {"handler": "resolve_findings"}, "input_schema": {"type": "object", "properties": {"composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "The hashes of the findings"}, "findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "The findings"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": [], "additionalProperties": false}, "description": "Mark findings resolved, until they are seen again; give composite_hashes or findings.", "output_schema": {"type": "object", "properties": {"resolved": {"type": "integer", "minimum": 0}, "already_resolved": {"type": "integer", "minimum": 0}, "unknown": {"type": "integer", "minimum": 0}}, "required": ["resolved", "already_resolved", "unknown"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Resolve findings", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:49:08.356194','01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5');
INSERT INTO "tool_versions" VALUES('01a1ef8fea30729c809ec8d8dad1902f','01a1ef8fea207feca1582f73840ee006',1,'{"name": "kept", "tool_type": "mock", "config": {"mock_response": {"sky": "clear"}}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden kept", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": true, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:49:08.640989','01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5');
INSERT INTO "tool_versions" VALUES('01a1ef8fea8572b497f2c9b632c9cfae','01a1ef8fea7d790fa50f7de30556c79e',1,'{"name": "limited", "tool_type": "mock", "config": {"mock_response": 1}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden limited", "output_schema": null, "rate_limit": {"max_calls": 1, "period": "hour", "burst": null, "scope": "caller"}, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:49:08.733555','01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5');
INSERT INTO "tool_versions" VALUES('01a1ef8fed64721e85e830aeb7a13f52','01a1ef8fed57755eb1dcfb611bd4908f',1,'{"name": "note", "tool_type": "table", "config": {"tableName": "notes", "fields": [{"name": "text", "dataType": "text"}]}, "input_schema": {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"text": {"type": ["string", "null"]}}, "required": [], "additionalProperties": false}, "description": "Golden note", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "reject", "result_style": "detailed", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:49:09.463329','01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5');
INSERT INTO "tool_versions" VALUES('01a1ef8fed7e7db295ec0c7b77b310fa','01a1ef8fed737b498bc8224d5ce8d225',1,'{"name": "print", "tool_type": "python", "config": {"code": "def show(text: str) -> str:\n    print(''printed'', text)\n    return text\n"}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden print", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:49:09.491699','01a1ef8f-e8d2-7a7b-8913-9b61c1a24ce5');
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
	CONSTRAINT ck_tools_tool_type CHECK (tool_type IN ('http', 'mcp', 'python', 'shell', 'builtin', 'mock', 'internal', 'table')), 
	CONSTRAINT ck_tools_is_active CHECK (is_active IS NOT NULL), 
	CONSTRAINT ck_tools_is_public CHECK (is_public IS NOT NULL), 
	CONSTRAINT fk_tools_owner_id FOREIGN KEY(owner_id) REFERENCES users (id)
);
INSERT INTO "tools" VALUES('4f56c6ab4df05007b19254f29c273c7e',1,'2026-11-18 16:49:08.356194','2026-11-18 16:49:08.356194',0,NULL,'01a1ef8fe8d27a7b89139b61c1a24ce5','math_eval','Evaluates one arithmetic expression and returns the number. Use it for any calculation beyond trivial mental arithmetic instead of working it out yourself. Operators: + - * / // (floor division) % (modulo, not percent) ^ or ** (power) and ! (factorial). Constants: pi, e, tau. Functions: sqrt, cbrt, abs, round, floor, ceil, trunc, sign, exp, log, ln, log2, log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, min, max, sum, mean, pow, mod, gcd, lcm, factorial, hypot, degrees, radians. Angles are in radians; log is natural unless written log(x, base). There are no variables, comparisons, lists or units, and numbers are written without thousands separators.','builtin','{"operation": "math_eval"}','{"type": "object", "properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "The expression to evaluate.", "examples": ["2+2", "(1 + 0.05)^10 * 1000", "sqrt(3^2 + 4^2)", "sin(radians(30))"]}}, "required": ["expression"], "examples": [{"expression": "(1 + 0.05)^10 * 1000"}]}','{"type": "object", "properties": {"result": {"type": "number", "description": "The value; whole numbers beyond 64 bits are rounded to a floating-point number."}}, "required": ["result"]}',NULL,NULL,1,1,1,'Calculator','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('6b6d2eda2c7950659ce66502d73cc282',1,'2026-11-18 16:49:08.356194','2026-11-18 16:49:08.356194',0,NULL,'01a1ef8fe8d27a7b89139b61c1a24ce5','echo','Returns exactly the arguments it was called with, under `echo`. Use it to check that tool calls work and how your arguments arrive; it does nothing else.','builtin','{"operation": "echo"}','{"type": "object", "additionalProperties": true, "examples": [{"message": "hello"}]}','{"type": "object", "properties": {"echo": {"type": "object", "description": "The arguments of the call."}}, "required": ["echo"]}',NULL,NULL,1,1,1,'Echo','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('85f568ed8cd35e11a508d3927f353e28',1,'2026-11-18 16:49:08.356194','2026-11-18 16:49:08.356194',0,NULL,'01a1ef8fe8d27a7b89139b61c1a24ce5','calculate_rsi','Calculates the relative strength index (RSI) of a series of prices, with Wilder''s smoothing, and says whether the last value is overbought or oversold. Give the closing prices oldest first, at least period + 1 of them; around 100 or more make the smoothing settle. It fetches no prices: you must have them already.','builtin','{"operation": "calculate_rsi"}','{"type": "object", "properties": {"prices": {"type": "array", "items": {"type": "number", "minimum": -1e+300, "maximum": 1e+300}, "minItems": 2, "maxItems": 100000, "description": "Closing prices, oldest first; at least period + 1.", "examples": [[44.34, 44.09, 44.15, 43.61, 44.33]]}, "period": {"type": "integer", "minimum": 1, "maximum": 99999, "default": 14, "description": "How many price changes are averaged; 14 is usual."}, "overbought": {"type": "number", "minimum": 0, "maximum": 100, "default": 70, "description": "The RSI from which on the answer''s `overbought` is true."}, "oversold": {"type": "number", "minimum": 0, "maximum": 100, "default": 30, "description": "The RSI down from which the answer''s `oversold` is true."}, "include_series": {"type": "boolean", "default": true, "description": "false leaves `series` out of the answer: shorter when only the last value matters."}}, "required": ["prices"], "examples": [{"prices": [44.34, 44.09, 44.15, 43.61, 44.33], "period": 3}]}','{"type": "object", "properties": {"rsi": {"type": "number", "minimum": 0, "maximum": 100, "description": "The RSI at the last price."}, "overbought": {"type": "boolean", "description": "Whether `rsi` is at or above the threshold."}, "oversold": {"type": "boolean", "description": "Whether `rsi` is at or below the threshold."}, "period": {"type": "integer", "description": "The period that was used."}, "series": {"type": "array", "items": {"type": ["number", "null"]}, "description": "The RSI at every price, as many as `prices`; null for the first `period` of them."}}, "required": ["rsi", "overbought", "oversold", "period"]}',NULL,NULL,1,1,1,'Calculate RSI','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('41a86778e8bd54c69de12c75630f7f9e',1,'2026-11-18 16:49:08.356194','2026-11-18 16:49:08.356194',0,NULL,'01a1ef8fe8d27a7b89139b61c1a24ce5','current_time','Returns the current date, time and weekday, in UTC or in the time zone you name. Call it whenever an answer depends on what day or time it is now; you cannot know that otherwise.','builtin','{"operation": "current_time"}','{"type": "object", "properties": {"timezone": {"type": "string", "maxLength": 64, "default": "UTC", "description": "An IANA time zone name.", "examples": ["UTC", "Europe/Berlin", "America/New_York"]}}, "examples": [{}, {"timezone": "Europe/Berlin"}]}','{"type": "object", "properties": {"iso": {"type": "string", "format": "date-time", "description": "ISO 8601, with the zone''s offset."}, "unix": {"type": "integer", "description": "Seconds since 1970-01-01T00:00:00Z."}, "timezone": {"type": "string", "description": "The time zone of `iso`, `date`, `time` and `weekday`."}, "abbreviation": {"type": ["string", "null"], "description": "What the zone is called now, such as CEST."}, "date": {"type": "string", "format": "date"}, "time": {"type": "string", "description": "HH:MM:SS, on a 24-hour clock."}, "weekday": {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]}}, "required": ["iso", "unix", "timezone", "date", "time", "weekday"]}',NULL,NULL,1,1,1,'Current Time','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('9e60bc7b2e6952c6bbf20b00e3006074',1,'2026-11-18 16:49:08.356194','2026-11-18 16:49:08.356194',0,NULL,'01a1ef8fe8d27a7b89139b61c1a24ce5','json_query','Selects, filters, sorts and reshapes parts of a JSON value with a JMESPath query, and returns what it finds; null where nothing matches. Use it to get a few values out of a large JSON result without copying it by hand. Numbers in a query stand in backticks (`10`), strings in single quotes (''red''). It has no arithmetic.','builtin','{"operation": "json_query"}','{"type": "object", "properties": {"data": {"description": "The JSON value to query: an object or array, not a string with JSON in it."}, "query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The JMESPath expression.", "examples": ["items[0].name", "items[?price > `10`].{name: name, price: price}", "sort_by(items, &price)[-1]", "length(items)"]}}, "required": ["data", "query"], "examples": [{"data": {"items": [{"name": "a", "price": 5}, {"name": "b", "price": 20}]}, "query": "items[?price > `10`]"}]}','{"type": "object", "properties": {"result": {"description": "What the query selects; null where nothing matches."}}, "required": ["result"]}',NULL,NULL,1,1,1,'JSON Query','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('492cf430bf41555ebdbdf302bf383784',1,'2026-11-18 16:49:08.356194','2026-11-18 16:49:08.356194',0,NULL,'01a1ef8fe8d27a7b89139b61c1a24ce5','query_baseline','Whether a finding is known: new, recurring or resolved, since when and how often it was seen. Changes nothing.','internal','{"handler": "query_baseline"}','{"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "query_type": {"type": "string", "enum": ["baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": ["finding_id", "composite_hash", "query_type"], "additionalProperties": false}','{"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}',NULL,NULL,1,1,1,'Query baseline','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('3d387905ae305c2882a8c97f9e4aa8d1',1,'2026-11-18 16:49:08.356194','2026-11-18 16:49:08.356194',0,NULL,'01a1ef8fe8d27a7b89139b61c1a24ce5','batch_baseline_query','Whether each of up to 10,000 findings is known, in the order asked. Changes nothing.','internal','{"handler": "batch_baseline_query"}','{"type": "object", "properties": {"finding_ids": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "maxItems": 10000, "description": "What you call the findings"}, "composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "Their hashes, one for each of finding_ids in the same order"}, "query_type": {"type": "string", "enum": ["batch_baseline_check", "baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the same answer"}, "batch_size": {"type": "integer", "minimum": 1, "maximum": 10000, "description": "How many are looked up in one statement; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": ["finding_ids", "composite_hashes", "query_type"], "additionalProperties": false}','{"type": "object", "properties": {"results": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}}}, "required": ["results"], "additionalProperties": false}',NULL,NULL,1,1,1,'Query baseline for many','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,1,0,0,33554432,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('86374af31257591dbc5f4666a9fd2d72',1,'2026-11-18 16:49:08.356194','2026-11-18 16:49:08.356194',0,NULL,'01a1ef8fe8d27a7b89139b61c1a24ce5','record_findings','Keep that findings were seen, each time it is called once more; a resolved one that is seen again recurs.','internal','{"handler": "record_findings"}','{"type": "object", "properties": {"findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["finding_id", "composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "What was seen"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": ["findings"], "additionalProperties": false}','{"type": "object", "properties": {"recorded": {"type": "integer", "minimum": 0}, "new": {"type": "integer", "minimum": 0}, "recurring": {"type": "integer", "minimum": 0}, "reopened": {"type": "integer", "minimum": 0}}, "required": ["recorded", "new", "recurring", "reopened"], "additionalProperties": false}',NULL,NULL,1,1,1,'Record findings','["baseline"]',NULL,'ignore','envelope',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('42944903dad95a33ae7df27da4aa4324',1,'2026-11-18 16:49:08.356194','2026-11-18 16:49:08.356194',0,NULL,'01a1ef8fe8d27a7b89139b61c1a24ce5','resolve_findings','Mark findings resolved, until they are seen again; give composite_hashes or findings.','internal','{"handler": "resolve_findings"}','{"type": "object", "properties": {"composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "The hashes of the findings"}, "findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "The findings"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": [], "additionalProperties": false}','{"type": "object", "properties": {"resolved": {"type": "integer", "minimum": 0}, "already_resolved": {"type": "integer", "minimum": 0}, "unknown": {"type": "integer", "minimum": 0}}, "required": ["resolved", "already_resolved", "unknown"], "additionalProperties": false}',NULL,NULL,1,1,1,'Resolve findings','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,0,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('01a1ef8fea207feca1582f73840ee006',2,'2026-11-18 16:49:08.640989','2026-11-18 16:49:08.640989',0,NULL,'01a1ef8fe8d27a7b89139b61c1a24ce5','kept','Golden kept','mock','{"mock_response": {"sky": "clear"}}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,1,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('01a1ef8fea7d790fa50f7de30556c79e',3,'2026-11-18 16:49:08.733555','2026-11-18 16:49:08.733555',0,NULL,'01a1ef8fe8d27a7b89139b61c1a24ce5','limited','Golden limited','mock','{"mock_response": 1}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,'{"max_calls": 1, "period": "hour", "burst": null, "scope": "caller"}',1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('01a1ef8fed57755eb1dcfb611bd4908f',8,'2026-11-18 16:49:09.463329','2026-11-18 16:49:09.463329',0,NULL,'01a1ef8fe8d27a7b89139b61c1a24ce5','note','Golden note','table','{"tableName": "notes", "fields": [{"name": "text", "dataType": "text"}]}','{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"text": {"type": ["string", "null"]}}, "required": [], "additionalProperties": false}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'reject','detailed',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('01a1ef8fed737b498bc8224d5ce8d225',9,'2026-11-18 16:49:09.491699','2026-11-18 16:49:09.491699',0,NULL,'01a1ef8fe8d27a7b89139b61c1a24ce5','print','Golden print','python','{"code": "def show(text: str) -> str:\n    print(''printed'', text)\n    return text\n"}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel',NULL);
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
INSERT INTO "users" VALUES('01a1ef8fe8d27a7b89139b61c1a24ce5',1,'2026-11-18 16:49:08.306646','2026-11-18 16:49:08.306646',0,NULL,'admin','admin','d33d62e7e6a79cbebfbf47d0fbe22be7e84e4950e72fcc6950ebca44bc0d5ce5');
INSERT INTO "users" VALUES('01a1ef8febb175769d60d27993862bbf',4,'2026-11-18 16:49:09.041331','2026-11-18 16:49:09.041331',0,NULL,'ada','member','2bf2a3b4fe3bb26e1138095bcbb8985ed8854353d930b7e76618657336dc3a95');
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
INSERT INTO "writers" VALUES(1,'01a1ef8fe9517f6fb3cea70cfb979735','vm',25430,'2026-11-18 16:49:08.566856','2026-11-18 16:49:21.204933',36,25,'9da50ba3e31cb5861f82c3239ae68583','aa77fb74a9b55aee8339a7fccb085004',3,'71542766ca8adfd2c90ff217f488733a','6817ba5e2b5c3ea468b07213dbc39536',25);
INSERT INTO "writers" VALUES(2,'01a1ef9019477041a29795d80d267378','vm',25654,'2026-11-18 16:49:21.000818','2026-11-18 16:49:21.081939',1,0,'','1503088d37d0cdcf76c75001787444e5',0,'','',0);
INSERT INTO "writers" VALUES(3,'01a1ef903925760f8f98b5e73d3bf0c1','vm',26051,'2026-11-18 16:49:29.134119','2026-11-18 16:49:29.137750',2,1,'3ae38eb7f3b7adcc2e8739d84e02df99','d7d05463ee5d3f184ea520ddc8a35d46',0,'','',1);
CREATE UNIQUE INDEX uq_user_name ON users (lower(name)) WHERE is_deleted IS FALSE;
CREATE INDEX idx_user_revision ON users (revision);
CREATE UNIQUE INDEX uq_agent_name ON agents (owner_id, lower(name)) WHERE is_deleted IS FALSE;
CREATE INDEX idx_agent_revision ON agents (revision);
CREATE INDEX idx_key_user ON api_keys (user_id);
CREATE INDEX idx_key_revision ON api_keys (revision);
CREATE INDEX idx_secret_revision ON secrets (revision);
CREATE UNIQUE INDEX uq_tool_name ON tools (lower(name)) WHERE is_deleted IS FALSE;
CREATE INDEX idx_tool_name ON tools (name) WHERE is_deleted IS FALSE;
CREATE INDEX idx_tool_type ON tools (tool_type) WHERE is_deleted IS FALSE;
CREATE INDEX idx_tool_active ON tools (is_active) WHERE is_deleted IS FALSE;
CREATE INDEX idx_tool_public ON tools (is_public) WHERE is_deleted IS FALSE;
CREATE INDEX idx_tool_owner_active ON tools (owner_id, is_active) WHERE is_deleted IS FALSE;
CREATE INDEX idx_tool_owner ON tools (owner_id) WHERE is_deleted IS FALSE;
CREATE INDEX idx_tool_revision ON tools (revision);
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
COMMIT;
