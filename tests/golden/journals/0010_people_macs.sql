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
INSERT INTO "agents" VALUES('01a1ef8df4447ae899a9343adfb0624a',6,'2026-11-18 16:47:00.164673','2026-11-18 16:47:00.164673',0,NULL,'01a1ef8df4007af08b08679700f00941','helper',NULL,'[]');
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0010_people_macs');
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
	revoked_at DATETIME, mac VARCHAR(64) DEFAULT '' NOT NULL, 
	CONSTRAINT pk_api_keys PRIMARY KEY (id), 
	CONSTRAINT uq_key_hash UNIQUE (key_hash), 
	CONSTRAINT fk_api_keys_user_id FOREIGN KEY(user_id) REFERENCES users (id), 
	CONSTRAINT fk_api_keys_agent_id FOREIGN KEY(agent_id) REFERENCES agents (id)
);
INSERT INTO "api_keys" VALUES('01a1ef8deff57efea4e6dcc938f98582',1,'2026-11-18 16:46:59.060623','01a1ef8defe17e0e9070a2235c0e2308','PEGBOARD_ADMIN_KEY','','0bd95dcc317da78f67ca39363265645b91abf6d5d51cbe29e630d17a2dc65283',NULL,NULL,NULL,'c1f649fbfec0138db69410088bf2edccddf619dcfdd104fb6014ef0bb2e7a9f2');
INSERT INTO "api_keys" VALUES('01a1ef8df40b7217a355286cf4272aa5',5,'2026-11-18 16:47:00.107126','01a1ef8df4007af08b08679700f00941','laptop','pb_WOomE','5a4d372eb561f033b79a1e86b4eb24c5d159b6bc0a004678f888ddcb72a15eab',NULL,NULL,NULL,'9f0a13715044315f7d5c7c3566d2758f838e5c971a3e1673fc3d6defd07a4a67');
INSERT INTO "api_keys" VALUES('01a1ef8df4fe72218b75a039b0a19340',7,'2026-11-18 16:47:00.350128','01a1ef8df4007af08b08679700f00941','robot','pb_k9vQK','f495cefbcb82be005dcca397f9240219f0357ad282bac564fd461912b9abf6ef','01a1ef8df4447ae899a9343adfb0624a',NULL,NULL,'f684290d766d0df115cad796c67b30fecbdc8a7932b09f1c3f44815462ea0fb9');
CREATE TABLE board_state (
	id INTEGER NOT NULL, 
	revision BIGINT NOT NULL, writers INTEGER DEFAULT '0' NOT NULL, writers_signature VARCHAR(32) DEFAULT '' NOT NULL, 
	CONSTRAINT pk_board_state PRIMARY KEY (id), 
	CONSTRAINT ck_board_state_single CHECK (id = 1)
);
INSERT INTO "board_state" VALUES(1,12,4,'1513f954516c6fb8ce400cc2c4e7dd8c');
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
INSERT INTO "execution_counts" VALUES(498616,'','','refused','tool_not_found',69,1);
INSERT INTO "execution_counts" VALUES(498616,'','','refused','tool_not_found',70,1);
INSERT INTO "execution_counts" VALUES(498616,'','dies','in_doubt','in_doubt',98,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',65,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',78,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',79,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',82,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',85,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',86,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',89,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',110,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',111,1);
INSERT INTO "execution_counts" VALUES(498616,'','fails','failed','execution_failed',128,1);
INSERT INTO "execution_counts" VALUES(498616,'','kept','refused','missing',100,1);
INSERT INTO "execution_counts" VALUES(498616,'','kept','succeeded','',109,1);
INSERT INTO "execution_counts" VALUES(498616,'','limited','refused','rate_limited',84,1);
INSERT INTO "execution_counts" VALUES(498616,'','limited','succeeded','',110,1);
INSERT INTO "execution_counts" VALUES(498616,'','math_eval','failed','execution_failed',106,1);
INSERT INTO "execution_counts" VALUES(498616,'','math_eval','succeeded','',97,1);
INSERT INTO "execution_counts" VALUES(498616,'','note','succeeded','',176,1);
INSERT INTO "execution_counts" VALUES(498616,'','once','refused','idempotency_conflict',137,1);
INSERT INTO "execution_counts" VALUES(498616,'','once','succeeded','',149,2);
INSERT INTO "execution_counts" VALUES(498616,'','print','succeeded','',242,1);
INSERT INTO "execution_counts" VALUES(498616,'','replaced','succeeded','',167,1);
INSERT INTO "execution_counts" VALUES(498616,'','tried','failed','contract_violation',189,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','','refused','tool_not_found',69,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','dies','in_doubt','in_doubt',98,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','echo','succeeded','',65,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','echo','succeeded','',79,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','echo','succeeded','',85,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','echo','succeeded','',86,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','echo','succeeded','',89,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','echo','succeeded','',110,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','echo','succeeded','',111,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','fails','failed','execution_failed',128,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','kept','refused','missing',100,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','kept','succeeded','',109,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','limited','refused','rate_limited',84,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','limited','succeeded','',110,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','math_eval','failed','execution_failed',106,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','math_eval','succeeded','',97,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','note','succeeded','',176,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','once','refused','idempotency_conflict',137,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','once','succeeded','',149,2);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','print','succeeded','',242,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','replaced','succeeded','',167,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','tried','failed','contract_violation',189,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-f400-7af0-8b08-679700f00941','','refused','tool_not_found',70,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-f400-7af0-8b08-679700f00941','echo','succeeded','',78,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-f400-7af0-8b08-679700f00941','echo','succeeded','',82,1);
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
INSERT INTO "executions" VALUES('01a1ef8df16c74eba771fb60c3d52911','echo','succeeded','2026-11-18 16:46:59.436301','2026-11-18 16:46:59.436554',0.206,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef8d-f16c-74eb-a771-fb60c3d52911',NULL,NULL,'6f91ddc5cf1c9eba1ef769b9a8c783de',NULL,NULL,NULL,NULL,NULL,NULL,1,4,'00006aa3083135114d0642b2ee6a7dcf',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8df16e7a32a1accbcd9fce52d1','kept','succeeded','2026-11-18 16:46:59.438633','2026-11-18 16:46:59.439337',0.664,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','admin','library','plain',1,'01a1ef8d-f14c-7457-b81d-00c853884dd1',1,'mock',NULL,NULL,'01a1ef8d-f16e-7a32-a1ac-cbcd9fce52d1',NULL,NULL,'c402a79d1914c0df9f18f5fcdb26ac9d','{"text":"a ☃ and a 😀, \"quoted\", \\ and a\nline","number":-1.5e+300}',NULL,NULL,NULL,NULL,NULL,1,5,'c21732d2bb94cdc6c180942922506c08',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8df170771b802d3e97c3524723','fails','failed','2026-11-18 16:46:59.440440','2026-11-18 16:46:59.442554',2.075,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','admin','library','plain',1,'292d6f6c-a238-532d-ba7c-02469f556f4e',1,'internal',NULL,NULL,'01a1ef8d-f170-771b-802d-3e97c3524723','execution_failed','cannot do a ☃ and a 😀, "quoted", \ and a
line','6f91ddc5cf1c9eba1ef769b9a8c783de',NULL,NULL,NULL,NULL,NULL,NULL,1,6,'f90a6902fb2e610b62d509dd1f89cbdc',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8df1737d0e8c33697db2e1f955','math_eval','failed','2026-11-18 16:46:59.443812','2026-11-18 16:46:59.444403',0.56,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','admin','library','plain',1,'4f56c6ab-4df0-5007-b192-54f29c273c7e',1,'builtin',NULL,NULL,'01a1ef8d-f173-7d0e-8c33-697db2e1f955','execution_failed','Division by zero at position 2; change the divisor','2b402557ef9e46f63ac646d80a39029b',NULL,NULL,NULL,NULL,NULL,NULL,1,7,'88f2172914c1c0871938e89adc9a79ea',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8df17872b9ba18df5325304292','kept','refused','2026-11-18 16:46:59.448164','2026-11-18 16:46:59.448591',0.391,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','admin','library','plain',0,'01a1ef8d-f14c-7457-b81d-00c853884dd1',1,'mock',NULL,NULL,'01a1ef8d-f178-72b9-ba18-df5325304292','missing','Invalid parameters: missing ''text''',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,8,'b5e4b3483de05a59808d356d1b7a3cfc',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8df18074fbaedfc2d30d361148','no_such_tool','refused','2026-11-18 16:46:59.456305','2026-11-18 16:46:59.456397',0.062,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','admin','library','plain',0,NULL,NULL,NULL,NULL,NULL,'01a1ef8d-f180-74fb-aedf-c2d30d361148','tool_not_found','Tool ''no_such_tool'' not found',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,9,'fb7cd4c0bd77eb7e612b30b5298c3ba6',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8df1877413a0cc78acfd877a74','limited','succeeded','2026-11-18 16:46:59.463249','2026-11-18 16:46:59.463994',0.716,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','admin','library','plain',1,'01a1ef8d-f15c-7985-a2a0-35ef125e21a8',1,'mock',NULL,NULL,'01a1ef8d-f187-7413-a0cc-78acfd877a74',NULL,NULL,'891f8df9fb115cf14f39c62f797dd94f',NULL,NULL,NULL,NULL,NULL,NULL,1,10,'8f1e887fff4b3af50e282ce62313c431',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8df190746da242278f37fca8cd','limited','refused','2026-11-18 16:46:59.472270','2026-11-18 16:46:59.472454',0.15,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','admin','library','plain',0,'01a1ef8d-f15c-7985-a2a0-35ef125e21a8',1,'mock',NULL,NULL,'01a1ef8d-f190-746d-a242-278f37fca8cd','rate_limited','Rate limit of ''limited'' reached: 1 call per hour; try again in 3600 s','4c22c2675ea0a1588b9aa52fc04c2bc7',NULL,NULL,NULL,NULL,NULL,NULL,1,11,'b42a600d7ac610825cba5bdb7b048a34',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8df546745094f7094e88f6d259','echo','succeeded','2026-11-18 16:47:00.422264','2026-11-18 16:47:00.422431',0.137,'01a1ef8d-f400-7af0-8b08-679700f00941','ada','rest','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin','01a1ef8d-f40b-7217-a355-286cf4272aa5',NULL,'request-1',NULL,NULL,'ffe3272a2d065349f9c3b9b552e41443',NULL,NULL,NULL,NULL,NULL,NULL,1,12,'bc6e93c0c52168be614114372851b84e',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8df5507d989b25b8b7dfbd1206','echo','refused','2026-11-18 16:47:00.432844','2026-11-18 16:47:00.432930',0.064,'01a1ef8d-f400-7af0-8b08-679700f00941','ada','rest','plain',0,NULL,NULL,NULL,'01a1ef8d-f4fe-7221-8b75-a039b0a19340','01a1ef8d-f444-7ae8-99a9-343adfb0624a','01a1ef8d-f550-7d98-9b25-b8b7dfbd1206','tool_not_found','Tool ''echo'' not found',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,13,'1351de22bec028befdd10cf2aefb58f2',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8df56a793c8ef0c8d5bf2fb1f2','echo','succeeded','2026-11-18 16:47:00.458574','2026-11-18 16:47:00.458700',0.102,'01a1ef8d-f400-7af0-8b08-679700f00941','ada','rest','openai_chat',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin','01a1ef8d-f40b-7217-a355-286cf4272aa5',NULL,'01a1ef8d-f56a-7438-a8c3-f00dd4e6e839',NULL,NULL,'52c9fc900bcfb7e34b2139076609f34a',NULL,NULL,NULL,NULL,NULL,NULL,1,14,'8a1e804677eb7d6677537d7951d2000a',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8df56f7737a8a8b1b8da2f89bd','once','succeeded','2026-11-18 16:47:00.463448','2026-11-18 16:47:00.470781',7.304,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','admin','library','plain',1,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1ef8d-f56f-7737-a8a8-b1b8da2f89bd',NULL,NULL,'b8f434d0fad72e9646a329d1258cc5b1',NULL,NULL,NULL,NULL,NULL,'"A"',1,15,'1b97e8a202c4403b473523cf07218c5e',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8df578718bbf0af564d08cf83e','once','succeeded','2026-11-18 16:47:00.472093','2026-11-18 16:47:00.476204',7.304,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','admin','library','plain',0,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1ef8d-f578-718b-bf0a-f564d08cf83e',NULL,NULL,'b8f434d0fad72e9646a329d1258cc5b1',NULL,NULL,NULL,NULL,'01a1ef8d-f56f-7737-a8a8-b1b8da2f89bd','"A"',1,16,'12f430fa78ed94723949091f6012fe69',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8df5807860a4b957755d033b14','once','refused','2026-11-18 16:47:00.480520','2026-11-18 16:47:00.484101',3.551,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','admin','library','plain',0,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1ef8d-f580-7860-a4b9-57755d033b14','idempotency_conflict','This idempotency key was used for ''once'' with other arguments; send the same arguments again, or a new key for a new call','1f769ddd5c064bf36603997b27dd5cb2',NULL,NULL,NULL,NULL,NULL,NULL,1,17,'87b5fa2ae221e39f12418137d1ef7816',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8df58c77debf96431f1fb91eca','tried','failed','2026-11-18 16:47:00.492488','2026-11-18 16:47:00.575145',82.609,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','admin','library','plain',2,'47fe7a73-0ae4-5d70-aa28-58a231407683',1,'internal',NULL,NULL,'01a1ef8d-f58c-77de-bf96-431f1fb91eca','contract_violation','The tool''s output breaks its output schema: The output must be an integer','b6f73090ee942bc74d4a31868843ec09',NULL,NULL,NULL,NULL,NULL,NULL,1,18,'4747cdf34e68530148201b28ef3b739d',NULL,'[{"attempt":1,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":13.976},{"attempt":2,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":56.896}]');
INSERT INTO "executions" VALUES('01a1ef8df5f873b09c6abebb129d430b','replaced','succeeded','2026-11-18 16:47:00.600223','2026-11-18 16:47:00.621558',21.301,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','admin','library','plain',2,'0b58c42c-a575-56ea-8e61-45f3fdeaeca4',1,'internal',NULL,NULL,'01a1ef8d-f5f8-73b0-9c6a-bebb129d430b',NULL,NULL,'b6f73090ee942bc74d4a31868843ec09',NULL,NULL,NULL,NULL,NULL,NULL,1,19,'571da219937477016d2894de3fadd24f',NULL,'[{"attempt":1,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":0.71},{"attempt":2,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":0.201}]');
INSERT INTO "executions" VALUES('01a1ef8df6797d3db14a160c77b3586f','note','succeeded','2026-11-18 16:47:00.729824','2026-11-18 16:47:00.766625',36.761,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','admin','library','plain',1,'01a1ef8d-f642-76ae-b6f6-ac7c7c4f169a',1,'table',NULL,NULL,'01a1ef8d-f679-7d3d-b14a-160c77b3586f',NULL,NULL,'bb7151d8f37b41630b4e30b6768d34ce',NULL,'1',NULL,NULL,NULL,NULL,1,20,'9d6075f58a1bca6440115a46ae1d8438',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8df69f7b5ea3b781ed89cdebf6','print','succeeded','2026-11-18 16:47:00.767707','2026-11-18 16:47:02.760642',1992.891,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','admin','library','plain',1,'01a1ef8d-f672-71c7-b668-dcd4bf27b0cf',1,'python',NULL,NULL,'01a1ef8d-f69f-7b5e-a3b7-81ed89cdebf6',NULL,NULL,'9c8e811abd59a715cf6573a6747289b6',NULL,NULL,NULL,NULL,NULL,NULL,1,21,'a02891e40daf8a4176565749b76eb27d','printed text
',NULL);
INSERT INTO "executions" VALUES('01a1ef8dfe6c7750b531d98e42bcfd0c','math_eval','succeeded','2026-11-18 16:47:02.764510','2026-11-18 16:47:02.764868',0.334,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','admin','library','plain',1,'4f56c6ab-4df0-5007-b192-54f29c273c7e',1,'builtin',NULL,NULL,'01a1ef8d-fe6c-7750-b531-d98e42bcfd0c',NULL,NULL,'915f91453eadfa88cbfc440940be6745',NULL,NULL,'01a1ef8d-fe6c-7408-ba8d-9f341bbf3b33',NULL,NULL,NULL,1,22,'8c3ac8ca922e661a0cef6fc1acf132d7',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8dfe6d7d1ba74448839ae7a10a','echo','succeeded','2026-11-18 16:47:02.765833','2026-11-18 16:47:02.765891',0.048,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef8d-fe6d-7d1b-a744-48839ae7a10a',NULL,NULL,'9757eae1dc5edf6df709691f6f3e4667',NULL,NULL,'01a1ef8d-fe6c-7408-ba8d-9f341bbf3b33',NULL,NULL,NULL,1,23,'18cf779549f0066ba64943103a504501',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8dfe78779cb8edf7715a730ea5','echo','succeeded','2026-11-18 16:47:02.776472','2026-11-18 16:47:02.776613',0.112,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef8d-fe78-779c-b8ed-f7715a730ea5',NULL,NULL,'c4a6e5e40704f1304c246a3bda999775',NULL,NULL,NULL,'01a1ef8d-fe70-72e0-b0f1-a4dfa3a11648',NULL,NULL,1,24,'8637bf834e28f5fa70b178079eb9acee',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8e3c727e66a677c2ee106065cc','dies','in_doubt','2026-11-18 16:47:18.642896','2026-11-18 16:47:18.808546',0.339,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','admin','library','plain',1,'301f3051-930d-5d5d-ae86-e078a5b82b33',1,'internal',NULL,NULL,'01a1ef8e-3c72-7e66-a677-c2ee106065cc','in_doubt','The server ended while this call was running; whether it took effect is not known','b6f73090ee942bc74d4a31868843ec09',NULL,NULL,NULL,NULL,NULL,NULL,3,1,'b64fc8827e2231cfe96ac8a7e6e724e5',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8e66557867b5f520521631c156','echo','succeeded','2026-11-18 16:47:29.365517','2026-11-18 16:47:29.366286',0.727,'01a1ef8d-efe1-7e0e-9070-a2235c0e2308','admin','cli','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef8e-6655-7867-b5f5-20521631c156',NULL,NULL,'2938cf24da9280d63907821d76138718',NULL,NULL,NULL,NULL,NULL,NULL,4,1,'50c089eb6e8e3f2795eaf434de64b4fb',NULL,NULL);
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
	expires_at DATETIME, 
	CONSTRAINT pk_intents PRIMARY KEY (id), 
	CONSTRAINT uq_intent_claim UNIQUE (claim), 
	CONSTRAINT ck_intents_state CHECK (state IN ('open', 'done', 'in_doubt'))
);
INSERT INTO "intents" VALUES('01a1ef8df56f7737a8a8b1b8da2f89bd',1,'done','',0,'b892e8b5d88650714ecb5eeaf9d95e7704c432ca67c11fcc77c243ca901e2dd6','b8f434d0fad72e9646a329d1258cc5b1','pb1:b3457b1d:dqwYVyA3oEVdpd060eW6vkNBwmYnVZBCAU7Z3FiDYR5gMYoCSyfXVMFhlgmjLq3Dc4zaXwp7_dNiS5mVcU5-T76qQxsOdcO5Q2iOgey-HfNEEzj25BWfw7tZpA_5W_taA-u2wu-tBRgBGy2u6o2lCr974Qu7IRstRjyB9ggRuIyiPsPPxCm_','2026-11-19 16:47:00.463718');
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
INSERT INTO "messages" VALUES('01a1ef8dfe7072e0b0f1a4dfa3a11648',0,'01a1ef8dfe7b798991a3aafa38df367e','assistant',NULL,'2026-11-18 16:47:02.777462','[{"id":"call_01a1ef8dfe78779cb8edf7715a730ea5","name":"echo","arguments":{"text":"thread"},"result":{"echo":{"text":"thread"}},"duration_ms":0.112,"attempts":1,"run_id":"01a1ef8d-fe78-779c-b8ed-f7715a730ea5","result_valid":true}]','plain',NULL);
CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT);
INSERT INTO "notes" VALUES(1,'inserted');
CREATE TABLE receipts (
	id CHAR(32) NOT NULL, 
	row_id TEXT, 
	output TEXT, 
	is_void BOOLEAN NOT NULL, 
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
INSERT INTO "secrets" VALUES('01a1ef8defe877af8ff40918c92f83a0',1,'2026-11-18 16:46:59.048476','2026-11-18 16:46:59.048476','01a1ef8defe17e0e9070a2235c0e2308','$root','pb1:b3457b1d:j4slgf9KCXn7jhE2Z1o4cJKIAweQFszv6UoMutGvE8XQ4hp-hJqH0TQuUAlmhpr6DZUWnJFegen3d70utw76iCIJ0xkfON12VoMxVvoItg');
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
INSERT INTO "threads" VALUES('01a1ef8dfe7072e0b0f1a4dfa3a11648','01a1ef8defe17e0e9070a2235c0e2308','golden',1,'2026-11-18 16:47:02.768177','2026-11-18 16:47:02.777596',NULL);
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
INSERT INTO "tool_versions" VALUES('01a1ef8df0207b86a38f7b652bfffac5','4f56c6ab4df05007b19254f29c273c7e',1,'{"name": "math_eval", "tool_type": "builtin", "config": {"operation": "math_eval"}, "input_schema": {"type": "object", "properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "The expression to evaluate.", "examples": ["2+2", "(1 + 0.05)^10 * 1000", "sqrt(3^2 + 4^2)", "sin(radians(30))"]}}, "required": ["expression"], "examples": [{"expression": "(1 + 0.05)^10 * 1000"}]}, "description": "Evaluates one arithmetic expression and returns the number. Use it for any calculation beyond trivial mental arithmetic instead of working it out yourself. Operators: + - * / // (floor division) % (modulo, not percent) ^ or ** (power) and ! (factorial). Constants: pi, e, tau. Functions: sqrt, cbrt, abs, round, floor, ceil, trunc, sign, exp, log, ln, log2, log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, min, max, sum, mean, pow, mod, gcd, lcm, factorial, hypot, degrees, radians. Angles are in radians; log is natural unless written log(x, base). There are no variables, comparisons, lists or units, and numbers are written without thousands separators.", "output_schema": {"type": "object", "properties": {"result": {"type": "number", "description": "The value; whole numbers beyond 64 bits are rounded to a floating-point number."}}, "required": ["result"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Calculator", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:46:59.068264','01a1ef8d-efe1-7e0e-9070-a2235c0e2308');
INSERT INTO "tool_versions" VALUES('01a1ef8df0207c678da6e729358b2821','6b6d2eda2c7950659ce66502d73cc282',1,'{"name": "echo", "tool_type": "builtin", "config": {"operation": "echo"}, "input_schema": {"type": "object", "additionalProperties": true, "examples": [{"message": "hello"}]}, "description": "Returns exactly the arguments it was called with, under `echo`. Use it to check that tool calls work and how your arguments arrive; it does nothing else.", "output_schema": {"type": "object", "properties": {"echo": {"type": "object", "description": "The arguments of the call."}}, "required": ["echo"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Echo", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:46:59.068264','01a1ef8d-efe1-7e0e-9070-a2235c0e2308');
INSERT INTO "tool_versions" VALUES('01a1ef8df0207c9a9458195581b3834b','85f568ed8cd35e11a508d3927f353e28',1,'{"name": "calculate_rsi", "tool_type": "builtin", "config": {"operation": "calculate_rsi"}, "input_schema": {"type": "object", "properties": {"prices": {"type": "array", "items": {"type": "number", "minimum": -1e+300, "maximum": 1e+300}, "minItems": 2, "maxItems": 100000, "description": "Closing prices, oldest first; at least period + 1.", "examples": [[44.34, 44.09, 44.15, 43.61, 44.33]]}, "period": {"type": "integer", "minimum": 1, "maximum": 99999, "default": 14, "description": "How many price changes are averaged; 14 is usual."}, "overbought": {"type": "number", "minimum": 0, "maximum": 100, "default": 70, "description": "The RSI from which on the answer''s `overbought` is true."}, "oversold": {"type": "number", "minimum": 0, "maximum": 100, "default": 30, "description": "The RSI down from which the answer''s `oversold` is true."}, "include_series": {"type": "boolean", "default": true, "description": "false leaves `series` out of the answer: shorter when only the last value matters."}}, "required": ["prices"], "examples": [{"prices": [44.34, 44.09, 44.15, 43.61, 44.33], "period": 3}]}, "description": "Calculates the relative strength index (RSI) of a series of prices, with Wilder''s smoothing, and says whether the last value is overbought or oversold. Give the closing prices oldest first, at least period + 1 of them; around 100 or more make the smoothing settle. It fetches no prices: you must have them already.", "output_schema": {"type": "object", "properties": {"rsi": {"type": "number", "minimum": 0, "maximum": 100, "description": "The RSI at the last price."}, "overbought": {"type": "boolean", "description": "Whether `rsi` is at or above the threshold."}, "oversold": {"type": "boolean", "description": "Whether `rsi` is at or below the threshold."}, "period": {"type": "integer", "description": "The period that was used."}, "series": {"type": "array", "items": {"type": ["number", "null"]}, "description": "The RSI at every price, as many as `prices`; null for the first `period` of them."}}, "required": ["rsi", "overbought", "oversold", "period"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Calculate RSI", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:46:59.068264','01a1ef8d-efe1-7e0e-9070-a2235c0e2308');
INSERT INTO "tool_versions" VALUES('01a1ef8df0207cbe923a6de612e291c7','41a86778e8bd54c69de12c75630f7f9e',1,'{"name": "current_time", "tool_type": "builtin", "config": {"operation": "current_time"}, "input_schema": {"type": "object", "properties": {"timezone": {"type": "string", "maxLength": 64, "default": "UTC", "description": "An IANA time zone name.", "examples": ["UTC", "Europe/Berlin", "America/New_York"]}}, "examples": [{}, {"timezone": "Europe/Berlin"}]}, "description": "Returns the current date, time and weekday, in UTC or in the time zone you name. Call it whenever an answer depends on what day or time it is now; you cannot know that otherwise.", "output_schema": {"type": "object", "properties": {"iso": {"type": "string", "format": "date-time", "description": "ISO 8601, with the zone''s offset."}, "unix": {"type": "integer", "description": "Seconds since 1970-01-01T00:00:00Z."}, "timezone": {"type": "string", "description": "The time zone of `iso`, `date`, `time` and `weekday`."}, "abbreviation": {"type": ["string", "null"], "description": "What the zone is called now, such as CEST."}, "date": {"type": "string", "format": "date"}, "time": {"type": "string", "description": "HH:MM:SS, on a 24-hour clock."}, "weekday": {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]}}, "required": ["iso", "unix", "timezone", "date", "time", "weekday"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Current Time", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:46:59.068264','01a1ef8d-efe1-7e0e-9070-a2235c0e2308');
INSERT INTO "tool_versions" VALUES('01a1ef8df0207ce78e57fdb709198b55','9e60bc7b2e6952c6bbf20b00e3006074',1,'{"name": "json_query", "tool_type": "builtin", "config": {"operation": "json_query"}, "input_schema": {"type": "object", "properties": {"data": {"description": "The JSON value to query: an object or array, not a string with JSON in it."}, "query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The JMESPath expression.", "examples": ["items[0].name", "items[?price > `10`].{name: name, price: price}", "sort_by(items, &price)[-1]", "length(items)"]}}, "required": ["data", "query"], "examples": [{"data": {"items": [{"name": "a", "price": 5}, {"name": "b", "price": 20}]}, "query": "items[?price > `10`]"}]}, "description": "Selects, filters, sorts and reshapes parts of a JSON value with a JMESPath query, and returns what it finds; null where nothing matches. Use it to get a few values out of a large JSON result without copying it by hand. Numbers in a query stand in backticks (`10`), strings in single quotes (''red''). It has no arithmetic.", "output_schema": {"type": "object", "properties": {"result": {"description": "What the query selects; null where nothing matches."}}, "required": ["result"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "JSON Query", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:46:59.068264','01a1ef8d-efe1-7e0e-9070-a2235c0e2308');
INSERT INTO "tool_versions" VALUES('01a1ef8df0207d0f8159184d2db03769','492cf430bf41555ebdbdf302bf383784',1,'{"name": "query_baseline", "tool_type": "internal", "config": {"handler": "query_baseline"}, "input_schema": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "query_type": {"type": "string", "enum": ["baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["finding_id", "composite_hash", "query_type"], "additionalProperties": false}, "description": "Whether a finding is known: new, recurring or resolved, since when and how often it was seen. Changes nothing.", "output_schema": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Query baseline", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:46:59.068264','01a1ef8d-efe1-7e0e-9070-a2235c0e2308');
INSERT INTO "tool_versions" VALUES('01a1ef8df0207d34a3ae185bac297f7b','3d387905ae305c2882a8c97f9e4aa8d1',1,'{"name": "batch_baseline_query", "tool_type": "internal", "config": {"handler": "batch_baseline_query"}, "input_schema": {"type": "object", "properties": {"finding_ids": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "maxItems": 10000, "description": "What you call the findings"}, "composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "Their hashes, one for each of finding_ids in the same order"}, "query_type": {"type": "string", "enum": ["batch_baseline_check", "baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the same answer"}, "batch_size": {"type": "integer", "minimum": 1, "maximum": 10000, "description": "How many are looked up in one statement; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["finding_ids", "composite_hashes", "query_type"], "additionalProperties": false}, "description": "Whether each of up to 10,000 findings is known, in the order asked. Changes nothing.", "output_schema": {"type": "object", "properties": {"results": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}}}, "required": ["results"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Query baseline for many", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": 33554432, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:46:59.068264','01a1ef8d-efe1-7e0e-9070-a2235c0e2308');
INSERT INTO "tool_versions" VALUES('01a1ef8df0207d56b0541c1d49f23881','86374af31257591dbc5f4666a9fd2d72',1,'{"name": "record_findings", "tool_type": "internal", "config": {"handler": "record_findings"}, "input_schema": {"type": "object", "properties": {"findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["finding_id", "composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "What was seen"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["findings"], "additionalProperties": false}, "description": "Keep that findings were seen, each time it is called once more; a resolved one that is seen again recurs.", "output_schema": {"type": "object", "properties": {"recorded": {"type": "integer", "minimum": 0}, "new": {"type": "integer", "minimum": 0}, "recurring": {"type": "integer", "minimum": 0}, "reopened": {"type": "integer", "minimum": 0}}, "required": ["recorded", "new", "recurring", "reopened"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Record findings", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:46:59.068264','01a1ef8d-efe1-7e0e-9070-a2235c0e2308');
INSERT INTO "tool_versions" VALUES('01a1ef8df0207d7ca5189e28db7295e3','42944903dad95a33ae7df27da4aa4324',1,'{"name": "resolve_findings", "tool_type": "internal", "config": {"handler": "resolve_findings"}, "input_schema": {"type": "object", "properties": {"composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "The hashes of the findings"}, "findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "The findings"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": [], "additionalProperties": false}, "description": "Mark findings resolved, until they are seen again; give composite_hashes or findings.", "output_schema": {"type": "object", "properties": {"resolved": {"type": "integer", "minimum": 0}, "already_resolved": {"type": "integer", "minimum": 0}, "unknown": {"type": "integer", "minimum": 0}}, "required": ["resolved", "already_resolved", "unknown"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Resolve findings", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:46:59.068264','01a1ef8d-efe1-7e0e-9070-a2235c0e2308');
INSERT INTO "tool_versions" VALUES('01a1ef8df1537f2e85ed0b0fe2ce2a21','01a1ef8df14c7457b81d00c853884dd1',1,'{"name": "kept", "tool_type": "mock", "config": {"mock_response": {"sky": "clear"}}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden kept", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": true, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:46:59.404266','01a1ef8d-efe1-7e0e-9070-a2235c0e2308');
INSERT INTO "tool_versions" VALUES('01a1ef8df161776d8a43722882948b96','01a1ef8df15c7985a2a035ef125e21a8',1,'{"name": "limited", "tool_type": "mock", "config": {"mock_response": 1}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden limited", "output_schema": null, "rate_limit": {"max_calls": 1, "period": "hour", "burst": null, "scope": "caller"}, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:46:59.420589','01a1ef8d-efe1-7e0e-9070-a2235c0e2308');
INSERT INTO "tool_versions" VALUES('01a1ef8df66c79f29148ee1ae2cf512a','01a1ef8df64276aeb6f6ac7c7c4f169a',1,'{"name": "note", "tool_type": "table", "config": {"tableName": "notes", "fields": [{"name": "text", "dataType": "text"}]}, "input_schema": {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"text": {"type": ["string", "null"]}}, "required": [], "additionalProperties": false}, "description": "Golden note", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "reject", "result_style": "detailed", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:47:00.674408','01a1ef8d-efe1-7e0e-9070-a2235c0e2308');
INSERT INTO "tool_versions" VALUES('01a1ef8df675770187dd0b9ebded1041','01a1ef8df67271c7b668dcd4bf27b0cf',1,'{"name": "print", "tool_type": "python", "config": {"code": "def show(text: str) -> str:\n    print(''printed'', text)\n    return text\n"}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden print", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:47:00.722106','01a1ef8d-efe1-7e0e-9070-a2235c0e2308');
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
INSERT INTO "tools" VALUES('4f56c6ab4df05007b19254f29c273c7e',1,'2026-11-18 16:46:59.068264','2026-11-18 16:46:59.068264',0,NULL,'01a1ef8defe17e0e9070a2235c0e2308','math_eval','Evaluates one arithmetic expression and returns the number. Use it for any calculation beyond trivial mental arithmetic instead of working it out yourself. Operators: + - * / // (floor division) % (modulo, not percent) ^ or ** (power) and ! (factorial). Constants: pi, e, tau. Functions: sqrt, cbrt, abs, round, floor, ceil, trunc, sign, exp, log, ln, log2, log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, min, max, sum, mean, pow, mod, gcd, lcm, factorial, hypot, degrees, radians. Angles are in radians; log is natural unless written log(x, base). There are no variables, comparisons, lists or units, and numbers are written without thousands separators.','builtin','{"operation": "math_eval"}','{"type": "object", "properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "The expression to evaluate.", "examples": ["2+2", "(1 + 0.05)^10 * 1000", "sqrt(3^2 + 4^2)", "sin(radians(30))"]}}, "required": ["expression"], "examples": [{"expression": "(1 + 0.05)^10 * 1000"}]}','{"type": "object", "properties": {"result": {"type": "number", "description": "The value; whole numbers beyond 64 bits are rounded to a floating-point number."}}, "required": ["result"]}',NULL,NULL,1,1,1,'Calculator','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('6b6d2eda2c7950659ce66502d73cc282',1,'2026-11-18 16:46:59.068264','2026-11-18 16:46:59.068264',0,NULL,'01a1ef8defe17e0e9070a2235c0e2308','echo','Returns exactly the arguments it was called with, under `echo`. Use it to check that tool calls work and how your arguments arrive; it does nothing else.','builtin','{"operation": "echo"}','{"type": "object", "additionalProperties": true, "examples": [{"message": "hello"}]}','{"type": "object", "properties": {"echo": {"type": "object", "description": "The arguments of the call."}}, "required": ["echo"]}',NULL,NULL,1,1,1,'Echo','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('85f568ed8cd35e11a508d3927f353e28',1,'2026-11-18 16:46:59.068264','2026-11-18 16:46:59.068264',0,NULL,'01a1ef8defe17e0e9070a2235c0e2308','calculate_rsi','Calculates the relative strength index (RSI) of a series of prices, with Wilder''s smoothing, and says whether the last value is overbought or oversold. Give the closing prices oldest first, at least period + 1 of them; around 100 or more make the smoothing settle. It fetches no prices: you must have them already.','builtin','{"operation": "calculate_rsi"}','{"type": "object", "properties": {"prices": {"type": "array", "items": {"type": "number", "minimum": -1e+300, "maximum": 1e+300}, "minItems": 2, "maxItems": 100000, "description": "Closing prices, oldest first; at least period + 1.", "examples": [[44.34, 44.09, 44.15, 43.61, 44.33]]}, "period": {"type": "integer", "minimum": 1, "maximum": 99999, "default": 14, "description": "How many price changes are averaged; 14 is usual."}, "overbought": {"type": "number", "minimum": 0, "maximum": 100, "default": 70, "description": "The RSI from which on the answer''s `overbought` is true."}, "oversold": {"type": "number", "minimum": 0, "maximum": 100, "default": 30, "description": "The RSI down from which the answer''s `oversold` is true."}, "include_series": {"type": "boolean", "default": true, "description": "false leaves `series` out of the answer: shorter when only the last value matters."}}, "required": ["prices"], "examples": [{"prices": [44.34, 44.09, 44.15, 43.61, 44.33], "period": 3}]}','{"type": "object", "properties": {"rsi": {"type": "number", "minimum": 0, "maximum": 100, "description": "The RSI at the last price."}, "overbought": {"type": "boolean", "description": "Whether `rsi` is at or above the threshold."}, "oversold": {"type": "boolean", "description": "Whether `rsi` is at or below the threshold."}, "period": {"type": "integer", "description": "The period that was used."}, "series": {"type": "array", "items": {"type": ["number", "null"]}, "description": "The RSI at every price, as many as `prices`; null for the first `period` of them."}}, "required": ["rsi", "overbought", "oversold", "period"]}',NULL,NULL,1,1,1,'Calculate RSI','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('41a86778e8bd54c69de12c75630f7f9e',1,'2026-11-18 16:46:59.068264','2026-11-18 16:46:59.068264',0,NULL,'01a1ef8defe17e0e9070a2235c0e2308','current_time','Returns the current date, time and weekday, in UTC or in the time zone you name. Call it whenever an answer depends on what day or time it is now; you cannot know that otherwise.','builtin','{"operation": "current_time"}','{"type": "object", "properties": {"timezone": {"type": "string", "maxLength": 64, "default": "UTC", "description": "An IANA time zone name.", "examples": ["UTC", "Europe/Berlin", "America/New_York"]}}, "examples": [{}, {"timezone": "Europe/Berlin"}]}','{"type": "object", "properties": {"iso": {"type": "string", "format": "date-time", "description": "ISO 8601, with the zone''s offset."}, "unix": {"type": "integer", "description": "Seconds since 1970-01-01T00:00:00Z."}, "timezone": {"type": "string", "description": "The time zone of `iso`, `date`, `time` and `weekday`."}, "abbreviation": {"type": ["string", "null"], "description": "What the zone is called now, such as CEST."}, "date": {"type": "string", "format": "date"}, "time": {"type": "string", "description": "HH:MM:SS, on a 24-hour clock."}, "weekday": {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]}}, "required": ["iso", "unix", "timezone", "date", "time", "weekday"]}',NULL,NULL,1,1,1,'Current Time','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('9e60bc7b2e6952c6bbf20b00e3006074',1,'2026-11-18 16:46:59.068264','2026-11-18 16:46:59.068264',0,NULL,'01a1ef8defe17e0e9070a2235c0e2308','json_query','Selects, filters, sorts and reshapes parts of a JSON value with a JMESPath query, and returns what it finds; null where nothing matches. Use it to get a few values out of a large JSON result without copying it by hand. Numbers in a query stand in backticks (`10`), strings in single quotes (''red''). It has no arithmetic.','builtin','{"operation": "json_query"}','{"type": "object", "properties": {"data": {"description": "The JSON value to query: an object or array, not a string with JSON in it."}, "query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The JMESPath expression.", "examples": ["items[0].name", "items[?price > `10`].{name: name, price: price}", "sort_by(items, &price)[-1]", "length(items)"]}}, "required": ["data", "query"], "examples": [{"data": {"items": [{"name": "a", "price": 5}, {"name": "b", "price": 20}]}, "query": "items[?price > `10`]"}]}','{"type": "object", "properties": {"result": {"description": "What the query selects; null where nothing matches."}}, "required": ["result"]}',NULL,NULL,1,1,1,'JSON Query','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('492cf430bf41555ebdbdf302bf383784',1,'2026-11-18 16:46:59.068264','2026-11-18 16:46:59.068264',0,NULL,'01a1ef8defe17e0e9070a2235c0e2308','query_baseline','Whether a finding is known: new, recurring or resolved, since when and how often it was seen. Changes nothing.','internal','{"handler": "query_baseline"}','{"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "query_type": {"type": "string", "enum": ["baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["finding_id", "composite_hash", "query_type"], "additionalProperties": false}','{"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}',NULL,NULL,1,1,1,'Query baseline','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('3d387905ae305c2882a8c97f9e4aa8d1',1,'2026-11-18 16:46:59.068264','2026-11-18 16:46:59.068264',0,NULL,'01a1ef8defe17e0e9070a2235c0e2308','batch_baseline_query','Whether each of up to 10,000 findings is known, in the order asked. Changes nothing.','internal','{"handler": "batch_baseline_query"}','{"type": "object", "properties": {"finding_ids": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "maxItems": 10000, "description": "What you call the findings"}, "composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "Their hashes, one for each of finding_ids in the same order"}, "query_type": {"type": "string", "enum": ["batch_baseline_check", "baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the same answer"}, "batch_size": {"type": "integer", "minimum": 1, "maximum": 10000, "description": "How many are looked up in one statement; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["finding_ids", "composite_hashes", "query_type"], "additionalProperties": false}','{"type": "object", "properties": {"results": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}}}, "required": ["results"], "additionalProperties": false}',NULL,NULL,1,1,1,'Query baseline for many','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,1,0,0,33554432,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('86374af31257591dbc5f4666a9fd2d72',1,'2026-11-18 16:46:59.068264','2026-11-18 16:46:59.068264',0,NULL,'01a1ef8defe17e0e9070a2235c0e2308','record_findings','Keep that findings were seen, each time it is called once more; a resolved one that is seen again recurs.','internal','{"handler": "record_findings"}','{"type": "object", "properties": {"findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["finding_id", "composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "What was seen"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["findings"], "additionalProperties": false}','{"type": "object", "properties": {"recorded": {"type": "integer", "minimum": 0}, "new": {"type": "integer", "minimum": 0}, "recurring": {"type": "integer", "minimum": 0}, "reopened": {"type": "integer", "minimum": 0}}, "required": ["recorded", "new", "recurring", "reopened"], "additionalProperties": false}',NULL,NULL,1,1,1,'Record findings','["baseline"]',NULL,'ignore','envelope',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('42944903dad95a33ae7df27da4aa4324',1,'2026-11-18 16:46:59.068264','2026-11-18 16:46:59.068264',0,NULL,'01a1ef8defe17e0e9070a2235c0e2308','resolve_findings','Mark findings resolved, until they are seen again; give composite_hashes or findings.','internal','{"handler": "resolve_findings"}','{"type": "object", "properties": {"composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "The hashes of the findings"}, "findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "The findings"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": [], "additionalProperties": false}','{"type": "object", "properties": {"resolved": {"type": "integer", "minimum": 0}, "already_resolved": {"type": "integer", "minimum": 0}, "unknown": {"type": "integer", "minimum": 0}}, "required": ["resolved", "already_resolved", "unknown"], "additionalProperties": false}',NULL,NULL,1,1,1,'Resolve findings','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,0,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('01a1ef8df14c7457b81d00c853884dd1',2,'2026-11-18 16:46:59.404266','2026-11-18 16:46:59.404266',0,NULL,'01a1ef8defe17e0e9070a2235c0e2308','kept','Golden kept','mock','{"mock_response": {"sky": "clear"}}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,1,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('01a1ef8df15c7985a2a035ef125e21a8',3,'2026-11-18 16:46:59.420589','2026-11-18 16:46:59.420589',0,NULL,'01a1ef8defe17e0e9070a2235c0e2308','limited','Golden limited','mock','{"mock_response": 1}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,'{"max_calls": 1, "period": "hour", "burst": null, "scope": "caller"}',1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('01a1ef8df64276aeb6f6ac7c7c4f169a',8,'2026-11-18 16:47:00.674408','2026-11-18 16:47:00.674408',0,NULL,'01a1ef8defe17e0e9070a2235c0e2308','note','Golden note','table','{"tableName": "notes", "fields": [{"name": "text", "dataType": "text"}]}','{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"text": {"type": ["string", "null"]}}, "required": [], "additionalProperties": false}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'reject','detailed',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('01a1ef8df67271c7b668dcd4bf27b0cf',9,'2026-11-18 16:47:00.722106','2026-11-18 16:47:00.722106',0,NULL,'01a1ef8defe17e0e9070a2235c0e2308','print','Golden print','python','{"code": "def show(text: str) -> str:\n    print(''printed'', text)\n    return text\n"}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel',NULL);
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
INSERT INTO "users" VALUES('01a1ef8defe17e0e9070a2235c0e2308',1,'2026-11-18 16:46:59.041871','2026-11-18 16:46:59.041871',0,NULL,'admin','admin','78c935c0147b1c76512f5da78b7e9b65b8b7d6c3921f49b9351eb6d91a14a8ec');
INSERT INTO "users" VALUES('01a1ef8df4007af08b08679700f00941',4,'2026-11-18 16:47:00.096675','2026-11-18 16:47:00.096675',0,NULL,'ada','member','62d23b1dc044383313f431073d33c266ef13b2baea823e57cd667d8762b202a5');
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
INSERT INTO "writers" VALUES(1,'01a1ef8df07775f4b5ec4fe138528e39','vm',21907,'2026-11-18 16:46:59.348179','2026-11-18 16:47:19.052763',34,24,'8637bf834e28f5fa70b178079eb9acee','af65de4e414458d7851a8c97d1c9fb84',3,'cf721a9bc8de40c0009ae3cd775eec6e','387e6953daca90af0de7300fab913367',24);
INSERT INTO "writers" VALUES(2,'01a1ef8e3c34765ca4b63a832c83a41e','vm',22681,'2026-11-18 16:47:18.697406','2026-11-18 16:47:18.808257',1,0,'','aa09ff1e95e191b7bb855f4f12d97c19',0,'','',0);
INSERT INTO "writers" VALUES(3,'01a1ef8e3cfe78098a0c116ad28f9293','vm',21907,'2026-11-18 16:47:18.808663','2026-11-18 16:47:19.012847',2,1,'b64fc8827e2231cfe96ac8a7e6e724e5','63f759151053137bae3a9be219c160cb',0,'','',1);
INSERT INTO "writers" VALUES(4,'01a1ef8e65827026b09785762e307c4c','vm',23667,'2026-11-18 16:47:29.380495','2026-11-18 16:47:29.397560',2,1,'50c089eb6e8e3f2795eaf434de64b4fb','29cb4c86c96a6f6f5aebc69732a45b73',0,'','',1);
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
