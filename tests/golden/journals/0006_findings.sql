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
INSERT INTO "agents" VALUES('01a1ef8a057d792e8a77956d9bd0b567',6,'2026-11-18 16:42:42.429568','2026-11-18 16:42:42.429568',0,NULL,'01a1ef8a04f97b8493b50619353cee60','helper',NULL,'[]');
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0006_findings');
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
	revoked_at DATETIME, 
	CONSTRAINT pk_api_keys PRIMARY KEY (id), 
	CONSTRAINT uq_key_hash UNIQUE (key_hash), 
	CONSTRAINT fk_api_keys_user_id FOREIGN KEY(user_id) REFERENCES users (id), 
	CONSTRAINT fk_api_keys_agent_id FOREIGN KEY(agent_id) REFERENCES agents (id)
);
INSERT INTO "api_keys" VALUES('01a1ef89fce07807aa9af7147221e827',1,'2026-11-18 16:42:40.198751','01a1ef89fcb476c9a871bf2c3c29d38f','PEGBOARD_ADMIN_KEY','the-admi','4a926f4e9b4574181ccf97e68f1d57c3ea45a7338d224f150304f020afd0e98b',NULL,NULL,NULL);
INSERT INTO "api_keys" VALUES('01a1ef8a05127e7982113271d296aaa7',5,'2026-11-18 16:42:42.322898','01a1ef8a04f97b8493b50619353cee60','laptop','pb_vY7Pt','44ceed74b351e0fbac4936295a48702dd7a1500a106d13dbafb7ae006eb55e5b',NULL,NULL,NULL);
INSERT INTO "api_keys" VALUES('01a1ef8a05aa7e13a3d1298eb9d00e8b',7,'2026-11-18 16:42:42.474873','01a1ef8a04f97b8493b50619353cee60','robot','pb_-obkH','4562a7ce57bbf9b6a9545617a2a63de7810d5257a575f31fe5e39e7af5a410fa','01a1ef8a057d792e8a77956d9bd0b567',NULL,NULL);
CREATE TABLE board_state (
	id INTEGER NOT NULL, 
	revision BIGINT NOT NULL, writers INTEGER DEFAULT '0' NOT NULL, writers_signature VARCHAR(32) DEFAULT '' NOT NULL, 
	CONSTRAINT pk_board_state PRIMARY KEY (id), 
	CONSTRAINT ck_board_state_single CHECK (id = 1)
);
INSERT INTO "board_state" VALUES(1,12,4,'58f1485077df60a6249d212ba7a8645e');
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
INSERT INTO "execution_counts" VALUES(498616,'','','refused','tool_not_found',74,1);
INSERT INTO "execution_counts" VALUES(498616,'','','refused','tool_not_found',80,1);
INSERT INTO "execution_counts" VALUES(498616,'','dies','in_doubt','in_doubt',96,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',82,2);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',84,2);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',85,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',88,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',114,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',115,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',163,1);
INSERT INTO "execution_counts" VALUES(498616,'','fails','failed','execution_failed',159,1);
INSERT INTO "execution_counts" VALUES(498616,'','kept','refused','missing',107,1);
INSERT INTO "execution_counts" VALUES(498616,'','kept','succeeded','',110,1);
INSERT INTO "execution_counts" VALUES(498616,'','limited','refused','rate_limited',85,1);
INSERT INTO "execution_counts" VALUES(498616,'','limited','succeeded','',107,1);
INSERT INTO "execution_counts" VALUES(498616,'','math_eval','failed','execution_failed',106,1);
INSERT INTO "execution_counts" VALUES(498616,'','math_eval','succeeded','',98,1);
INSERT INTO "execution_counts" VALUES(498616,'','note','succeeded','',182,1);
INSERT INTO "execution_counts" VALUES(498616,'','once','refused','idempotency_conflict',112,1);
INSERT INTO "execution_counts" VALUES(498616,'','once','succeeded','',192,2);
INSERT INTO "execution_counts" VALUES(498616,'','print','succeeded','',243,1);
INSERT INTO "execution_counts" VALUES(498616,'','replaced','succeeded','',149,1);
INSERT INTO "execution_counts" VALUES(498616,'','tried','failed','contract_violation',184,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','','refused','tool_not_found',74,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','dies','in_doubt','in_doubt',96,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','echo','succeeded','',82,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','echo','succeeded','',84,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','echo','succeeded','',85,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','echo','succeeded','',88,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','echo','succeeded','',114,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','echo','succeeded','',115,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','echo','succeeded','',163,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','fails','failed','execution_failed',159,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','kept','refused','missing',107,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','kept','succeeded','',110,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','limited','refused','rate_limited',85,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','limited','succeeded','',107,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','math_eval','failed','execution_failed',106,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','math_eval','succeeded','',98,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','note','succeeded','',182,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','once','refused','idempotency_conflict',112,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','once','succeeded','',192,2);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','print','succeeded','',243,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','replaced','succeeded','',149,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','tried','failed','contract_violation',184,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8a-04f9-7b84-93b5-0619353cee60','','refused','tool_not_found',80,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8a-04f9-7b84-93b5-0619353cee60','echo','succeeded','',82,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8a-04f9-7b84-93b5-0619353cee60','echo','succeeded','',84,1);
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
	thread_id TEXT, repeat_of TEXT, result TEXT, writer INTEGER, seq BIGINT, mac VARCHAR(32), printed TEXT, 
	CONSTRAINT pk_executions PRIMARY KEY (id)
);
INSERT INTO "executions" VALUES('01a1ef8a013776508418514c45ff6a68','echo','succeeded','2026-11-18 16:42:41.335389','2026-11-18 16:42:41.352889',17.414,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef8a-0137-7650-8418-514c45ff6a68',NULL,NULL,'b5899c62ad2d69aacac8e8c10f4a3b2c',NULL,NULL,NULL,NULL,NULL,NULL,1,4,'eec876f7c46df9be9e7c7cb016796a3e',NULL);
INSERT INTO "executions" VALUES('01a1ef8a014c7a3caa4d41b9bfa8a3c0','kept','succeeded','2026-11-18 16:42:41.356632','2026-11-18 16:42:41.357405',0.724,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','admin','library','plain',1,'01a1ef8a-002c-7974-a8c8-dd9cef1a31f3',1,'mock',NULL,NULL,'01a1ef8a-014c-7a3c-aa4d-41b9bfa8a3c0',NULL,NULL,'26897939adcdb1fba7efb1bfebec6f7b','{"text":"a ☃ and a 😀, \"quoted\", \\ and a\nline","number":-1.5e+300}',NULL,NULL,NULL,NULL,NULL,1,5,'36465bf3a12656fa36ce9ac6173fea8d',NULL);
INSERT INTO "executions" VALUES('01a1ef8a016575618f14c2fc30454257','fails','failed','2026-11-18 16:42:41.381328','2026-11-18 16:42:41.394937',13.532,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','admin','library','plain',1,'292d6f6c-a238-532d-ba7c-02469f556f4e',1,'internal',NULL,NULL,'01a1ef8a-0165-7561-8f14-c2fc30454257','execution_failed','cannot do a ☃ and a 😀, "quoted", \ and a
line','b5899c62ad2d69aacac8e8c10f4a3b2c',NULL,NULL,NULL,NULL,NULL,NULL,1,6,'a1d5af5577f782108fbd0ed0d2264d44',NULL);
INSERT INTO "executions" VALUES('01a1ef8a017a7dccbb92d6eb7c441402','math_eval','failed','2026-11-18 16:42:41.402854','2026-11-18 16:42:41.403511',0.569,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','admin','library','plain',1,'4f56c6ab-4df0-5007-b192-54f29c273c7e',1,'builtin',NULL,NULL,'01a1ef8a-017a-7dcc-bb92-d6eb7c441402','execution_failed','Division by zero at position 2; change the divisor','cd96be522c2870154557b8a4ded1863f',NULL,NULL,NULL,NULL,NULL,NULL,1,7,'c0c2258ad0e6958a84f7448ec4bd92a9',NULL);
INSERT INTO "executions" VALUES('01a1ef8a019b70a1940f7100d69299bb','kept','refused','2026-11-18 16:42:41.435028','2026-11-18 16:42:41.459990',0.586,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','admin','library','plain',0,'01a1ef8a-002c-7974-a8c8-dd9cef1a31f3',1,'mock',NULL,NULL,'01a1ef8a-019b-70a1-940f-7100d69299bb','missing','Invalid parameters: missing ''text''',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,8,'2d960fb6802f83516ed0e09a3541812d',NULL);
INSERT INTO "executions" VALUES('01a1ef8a01b57428908af654e925d25f','no_such_tool','refused','2026-11-18 16:42:41.461254','2026-11-18 16:42:41.461371',0.083,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','admin','library','plain',0,NULL,NULL,NULL,NULL,NULL,'01a1ef8a-01b5-7428-908a-f654e925d25f','tool_not_found','Tool ''no_such_tool'' not found',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,9,'9646d196d4a7c571657fbc3550dea56a',NULL);
INSERT INTO "executions" VALUES('01a1ef8a01bc7f749ea574cf1d38e29c','limited','succeeded','2026-11-18 16:42:41.468959','2026-11-18 16:42:41.469573',0.582,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','admin','library','plain',1,'01a1ef8a-0096-7eda-8544-25eacbe68cf5',1,'mock',NULL,NULL,'01a1ef8a-01bc-7f74-9ea5-74cf1d38e29c',NULL,NULL,'84dbe5b994e025a0cde034891e3ca594',NULL,NULL,NULL,NULL,NULL,NULL,1,10,'565896d0178ae878e06d23fff662387a',NULL);
INSERT INTO "executions" VALUES('01a1ef8a01d3783a9bb32ebb59981c14','limited','refused','2026-11-18 16:42:41.491506','2026-11-18 16:42:41.491699',0.162,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','admin','library','plain',0,'01a1ef8a-0096-7eda-8544-25eacbe68cf5',1,'mock',NULL,NULL,'01a1ef8a-01d3-783a-9bb3-2ebb59981c14','rate_limited','Rate limit of ''limited'' reached: 1 call per hour; try again in 3600 s','e2959ff56b4b20144007b2b7af98baa2',NULL,NULL,NULL,NULL,NULL,NULL,1,11,'8ec7ac0acbb75ed896d93198d30733c8',NULL);
INSERT INTO "executions" VALUES('01a1ef8a05fa7aea92b3007909bdecb9','echo','succeeded','2026-11-18 16:42:42.554678','2026-11-18 16:42:42.554861',0.149,'01a1ef8a-04f9-7b84-93b5-0619353cee60','ada','rest','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin','01a1ef8a-0512-7e79-8211-3271d296aaa7',NULL,'request-1',NULL,NULL,'f5353e62c3cb832d3f94ecdadc194fce',NULL,NULL,NULL,NULL,NULL,NULL,1,12,'12b22299da6248f4bb017a6008cac410',NULL);
INSERT INTO "executions" VALUES('01a1ef8a0616771a8275c126f2d3b783','echo','refused','2026-11-18 16:42:42.582436','2026-11-18 16:42:42.582586',0.115,'01a1ef8a-04f9-7b84-93b5-0619353cee60','ada','rest','plain',0,NULL,NULL,NULL,'01a1ef8a-05aa-7e13-a3d1-298eb9d00e8b','01a1ef8a-057d-792e-8a77-956d9bd0b567','01a1ef8a-0616-771a-8275-c126f2d3b783','tool_not_found','Tool ''echo'' not found',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,13,'acde9b1f608b3db67d9691526cc493f2',NULL);
INSERT INTO "executions" VALUES('01a1ef8a066579ddaf943d5792e5085b','echo','succeeded','2026-11-18 16:42:42.661608','2026-11-18 16:42:42.661772',0.135,'01a1ef8a-04f9-7b84-93b5-0619353cee60','ada','rest','openai_chat',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin','01a1ef8a-0512-7e79-8211-3271d296aaa7',NULL,'01a1ef8a-0649-780a-9760-b64312b202d4',NULL,NULL,'39d10b62ee387d48c1acaa96926f852e',NULL,NULL,NULL,NULL,NULL,NULL,1,14,'d827a003b14b62d76a2df7cd7fefabfc',NULL);
INSERT INTO "executions" VALUES('01a1ef8a068572bda98789123a8dcae5','once','succeeded','2026-11-18 16:42:42.693165','2026-11-18 16:42:42.790937',97.724,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','admin','library','plain',1,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1ef8a-0685-72bd-a987-89123a8dcae5',NULL,NULL,'88eca53749960caed741aff048efa9c4',NULL,NULL,NULL,NULL,NULL,'"A"',1,15,'363015cc8cd692eec83f678f0b6b79a2',NULL);
INSERT INTO "executions" VALUES('01a1ef8a070273c898b1131943156914','once','succeeded','2026-11-18 16:42:42.818231','2026-11-18 16:42:42.824314',97.724,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','admin','library','plain',0,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1ef8a-0702-73c8-98b1-131943156914',NULL,NULL,'88eca53749960caed741aff048efa9c4',NULL,NULL,NULL,NULL,'01a1ef8a-0685-72bd-a987-89123a8dcae5','"A"',1,16,'013c085e111de0b3dc89fe20ad0c7d4a',NULL);
INSERT INTO "executions" VALUES('01a1ef8a070b7595a8e8419272cfc192','once','refused','2026-11-18 16:42:42.827344','2026-11-18 16:42:42.828196',0.823,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','admin','library','plain',0,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1ef8a-070b-7595-a8e8-419272cfc192','idempotency_conflict','This idempotency key was used for ''once'' with other arguments; send the same arguments again, or a new key for a new call','5f7070a44635086d54367f0d8abd3162',NULL,NULL,NULL,NULL,NULL,NULL,1,17,'a892daf26218100b7109a1e500752c0f',NULL);
INSERT INTO "executions" VALUES('01a1ef8a07427525b84f5fecfb74f793','tried','failed','2026-11-18 16:42:42.882318','2026-11-18 16:42:42.942967',60.607,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','admin','library','plain',2,'47fe7a73-0ae4-5d70-aa28-58a231407683',1,'internal',NULL,NULL,'01a1ef8a-0742-7525-b84f-5fecfb74f793','contract_violation','The tool''s output breaks its output schema: The output must be an integer','f1eb4f5448713ac3236f819b9f61c6a9',NULL,NULL,NULL,NULL,NULL,NULL,1,18,'efcda6c55fd30ca93a02a664c32440b3',NULL);
INSERT INTO "executions" VALUES('01a1ef8a07a8751ab6d449754a95caa6','replaced','succeeded','2026-11-18 16:42:42.984311','2026-11-18 16:42:42.991706',7.364,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','admin','library','plain',2,'0b58c42c-a575-56ea-8e61-45f3fdeaeca4',1,'internal',NULL,NULL,'01a1ef8a-07a8-751a-b6d4-49754a95caa6',NULL,NULL,'f1eb4f5448713ac3236f819b9f61c6a9',NULL,NULL,NULL,NULL,NULL,NULL,1,19,'25d17ce39a02d0b8fd7f6a6d39b68080',NULL);
INSERT INTO "executions" VALUES('01a1ef8a07f57cf490b12a1e72331dc3','note','succeeded','2026-11-18 16:42:43.061805','2026-11-18 16:42:43.116058',54.21,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','admin','library','plain',1,'01a1ef8a-07ba-73f2-bec4-17bad539e3a9',1,'table',NULL,NULL,'01a1ef8a-07f5-7cf4-90b1-2a1e72331dc3',NULL,NULL,'b80572610fe2e933f90e12724193613b',NULL,'1',NULL,NULL,NULL,NULL,1,20,'54269c81d39ad8bb4d46ef2f0bc3a1c7',NULL);
INSERT INTO "executions" VALUES('01a1ef8a083c74379d952fcc7fcfea23','print','succeeded','2026-11-18 16:42:43.132259','2026-11-18 16:42:45.226202',2093.895,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','admin','library','plain',1,'01a1ef8a-07d9-779e-bb7c-b896006a56e9',1,'python',NULL,NULL,'01a1ef8a-083c-7437-9d95-2fcc7fcfea23',NULL,NULL,'afe17bcf1de008c93ca0afe969d95873',NULL,NULL,NULL,NULL,NULL,NULL,1,21,'0ccff085b3434da4e60c1ca05118f055','printed text
');
INSERT INTO "executions" VALUES('01a1ef8a107372feb9c2d810f4215ba0','math_eval','succeeded','2026-11-18 16:42:45.235182','2026-11-18 16:42:45.235556',0.342,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','admin','library','plain',1,'4f56c6ab-4df0-5007-b192-54f29c273c7e',1,'builtin',NULL,NULL,'01a1ef8a-1073-72fe-b9c2-d810f4215ba0',NULL,NULL,'04361808eda438550643dbfdc354608c',NULL,NULL,'01a1ef8a-1072-7f4f-a2eb-4b9520e07b69',NULL,NULL,NULL,1,22,'93c64f518264e09e7f131ad260c6b9f6',NULL);
INSERT INTO "executions" VALUES('01a1ef8a10a675c782db8554c760de92','echo','succeeded','2026-11-18 16:42:45.286355','2026-11-18 16:42:45.286527',0.146,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef8a-10a6-75c7-82db-8554c760de92',NULL,NULL,'65c3f67a6d47403f774d1ac2546d1a45',NULL,NULL,'01a1ef8a-1072-7f4f-a2eb-4b9520e07b69',NULL,NULL,NULL,1,23,'8ed5822b61a14c50d53273891ec7f118',NULL);
INSERT INTO "executions" VALUES('01a1ef8a10d1721a8b44bbe48922d2fe','echo','succeeded','2026-11-18 16:42:45.329127','2026-11-18 16:42:45.329295',0.137,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef8a-10d1-721a-8b44-bbe48922d2fe',NULL,NULL,'46228c3b2b93ee6da7e0ba991a01a2f9',NULL,NULL,NULL,'01a1ef8a-10ab-731d-812a-910945d7e8f9',NULL,NULL,1,24,'f0324a9eb142275a26e03809db534dfc',NULL);
INSERT INTO "executions" VALUES('01a1ef8a6a997bb283bb8b9e85eec378','dies','in_doubt','2026-11-18 16:43:08.313727','2026-11-18 16:43:09.436942',0.306,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','admin','library','plain',1,'301f3051-930d-5d5d-ae86-e078a5b82b33',1,'internal',NULL,NULL,'01a1ef8a-6a99-7bb2-83bb-8b9e85eec378','in_doubt','The server ended while this call was running; whether it took effect is not known','f1eb4f5448713ac3236f819b9f61c6a9',NULL,NULL,NULL,NULL,NULL,NULL,3,1,'147a516106a7555fd5747b70c6336695',NULL);
INSERT INTO "executions" VALUES('01a1ef8aa40a743e9f47b581190fd348','echo','succeeded','2026-11-18 16:43:23.018256','2026-11-18 16:43:23.019240',0.933,'01a1ef89-fcb4-76c9-a871-bf2c3c29d38f','admin','cli','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef8a-a40a-743e-9f47-b581190fd348',NULL,NULL,'71647a3cc883ddae422cc970de096dd6',NULL,NULL,NULL,NULL,NULL,NULL,4,1,'ead08e3c977a4d1ff97434fb62699644',NULL);
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
INSERT INTO "intents" VALUES('01a1ef8a068572bda98789123a8dcae5',1,'done','',0,'84136b1c4a4e6a43d68cbea20dc894400356e33166faeb6da3ea9c7adca4f2f1','88eca53749960caed741aff048efa9c4','pb1:b3457b1d:lU32KKX_S0qLGMXtZ6ccWF1SccwgfELeaj9_Bx5QEzriI6CujJGKVE2AxrohFGNffru8BVjH2Pw16nWUgi8dRIFCUy3i44Usa0yqMQlYFmBDQudw0YwuEBzknxVClFI3MYrZdZBrWv0N0AFErLlZjTs75H7xJuv_2hSzS5tLaZIzh6m7ikWfeg','2026-11-19 16:42:42.693476');
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
INSERT INTO "messages" VALUES('01a1ef8a10ab731d812a910945d7e8f9',0,'01a1ef8a10f372aba0a74451462c1a9b','assistant',NULL,'2026-11-18 16:42:45.360544','[{"id":"call_01a1ef8a10d1721a8b44bbe48922d2fe","name":"echo","arguments":{"text":"thread"},"result":{"echo":{"text":"thread"}},"duration_ms":0.137,"attempts":1,"run_id":"01a1ef8a-10d1-721a-8b44-bbe48922d2fe","result_valid":true}]','plain',NULL);
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
INSERT INTO "secrets" VALUES('01a1ef89fcbc79f6ae2c39a1903fffcd',1,'2026-11-18 16:42:40.188618','2026-11-18 16:42:40.188618','01a1ef89fcb476c9a871bf2c3c29d38f','$root','pb1:b3457b1d:y7QEv2Ru-sVnN8QOS1ePjmv5ZTeNwKeVFLwY5G_oHW1cl7ZRsgINgNqT_WCNNnDAVU0uQpr-KeGRco_1JFwJJs1s484qOMiq');
CREATE TABLE threads (
	id CHAR(32) NOT NULL, 
	owner_id CHAR(32) NOT NULL, 
	title TEXT, 
	messages INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	CONSTRAINT pk_threads PRIMARY KEY (id), 
	CONSTRAINT fk_threads_owner_id FOREIGN KEY(owner_id) REFERENCES users (id)
);
INSERT INTO "threads" VALUES('01a1ef8a10ab731d812a910945d7e8f9','01a1ef89fcb476c9a871bf2c3c29d38f','golden',1,'2026-11-18 16:42:45.291189','2026-11-18 16:42:45.360789');
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
INSERT INTO "tool_versions" VALUES('01a1ef89fd377ea68548ab881d79841b','4f56c6ab4df05007b19254f29c273c7e',1,'{"name": "math_eval", "tool_type": "builtin", "config": {"operation": "math_eval"}, "input_schema": {"type": "object", "properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "The expression to evaluate.", "examples": ["2+2", "(1 + 0.05)^10 * 1000", "sqrt(3^2 + 4^2)", "sin(radians(30))"]}}, "required": ["expression"], "examples": [{"expression": "(1 + 0.05)^10 * 1000"}]}, "description": "Evaluates one arithmetic expression and returns the number. Use it for any calculation beyond trivial mental arithmetic instead of working it out yourself. Operators: + - * / // (floor division) % (modulo, not percent) ^ or ** (power) and ! (factorial). Constants: pi, e, tau. Functions: sqrt, cbrt, abs, round, floor, ceil, trunc, sign, exp, log, ln, log2, log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, min, max, sum, mean, pow, mod, gcd, lcm, factorial, hypot, degrees, radians. Angles are in radians; log is natural unless written log(x, base). There are no variables, comparisons, lists or units, and numbers are written without thousands separators.", "output_schema": {"type": "object", "properties": {"result": {"type": "number", "description": "The value; whole numbers beyond 64 bits are rounded to a floating-point number."}}, "required": ["result"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Calculator", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:42:40.230132','01a1ef89-fcb4-76c9-a871-bf2c3c29d38f');
INSERT INTO "tool_versions" VALUES('01a1ef89fd6d7b78aa568732f3539d09','6b6d2eda2c7950659ce66502d73cc282',1,'{"name": "echo", "tool_type": "builtin", "config": {"operation": "echo"}, "input_schema": {"type": "object", "additionalProperties": true, "examples": [{"message": "hello"}]}, "description": "Returns exactly the arguments it was called with, under `echo`. Use it to check that tool calls work and how your arguments arrive; it does nothing else.", "output_schema": {"type": "object", "properties": {"echo": {"type": "object", "description": "The arguments of the call."}}, "required": ["echo"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Echo", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:42:40.230132','01a1ef89-fcb4-76c9-a871-bf2c3c29d38f');
INSERT INTO "tool_versions" VALUES('01a1ef89fda376a8b76ec6a676de1929','85f568ed8cd35e11a508d3927f353e28',1,'{"name": "calculate_rsi", "tool_type": "builtin", "config": {"operation": "calculate_rsi"}, "input_schema": {"type": "object", "properties": {"prices": {"type": "array", "items": {"type": "number", "minimum": -1e+300, "maximum": 1e+300}, "minItems": 2, "maxItems": 100000, "description": "Closing prices, oldest first; at least period + 1.", "examples": [[44.34, 44.09, 44.15, 43.61, 44.33]]}, "period": {"type": "integer", "minimum": 1, "maximum": 99999, "default": 14, "description": "How many price changes are averaged; 14 is usual."}, "overbought": {"type": "number", "minimum": 0, "maximum": 100, "default": 70, "description": "The RSI from which on the answer''s `overbought` is true."}, "oversold": {"type": "number", "minimum": 0, "maximum": 100, "default": 30, "description": "The RSI down from which the answer''s `oversold` is true."}, "include_series": {"type": "boolean", "default": true, "description": "false leaves `series` out of the answer: shorter when only the last value matters."}}, "required": ["prices"], "examples": [{"prices": [44.34, 44.09, 44.15, 43.61, 44.33], "period": 3}]}, "description": "Calculates the relative strength index (RSI) of a series of prices, with Wilder''s smoothing, and says whether the last value is overbought or oversold. Give the closing prices oldest first, at least period + 1 of them; around 100 or more make the smoothing settle. It fetches no prices: you must have them already.", "output_schema": {"type": "object", "properties": {"rsi": {"type": "number", "minimum": 0, "maximum": 100, "description": "The RSI at the last price."}, "overbought": {"type": "boolean", "description": "Whether `rsi` is at or above the threshold."}, "oversold": {"type": "boolean", "description": "Whether `rsi` is at or below the threshold."}, "period": {"type": "integer", "description": "The period that was used."}, "series": {"type": "array", "items": {"type": ["number", "null"]}, "description": "The RSI at every price, as many as `prices`; null for the first `period` of them."}}, "required": ["rsi", "overbought", "oversold", "period"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Calculate RSI", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:42:40.230132','01a1ef89-fcb4-76c9-a871-bf2c3c29d38f');
INSERT INTO "tool_versions" VALUES('01a1ef89fdca77e1a93fc3d74ef4d78b','41a86778e8bd54c69de12c75630f7f9e',1,'{"name": "current_time", "tool_type": "builtin", "config": {"operation": "current_time"}, "input_schema": {"type": "object", "properties": {"timezone": {"type": "string", "maxLength": 64, "default": "UTC", "description": "An IANA time zone name.", "examples": ["UTC", "Europe/Berlin", "America/New_York"]}}, "examples": [{}, {"timezone": "Europe/Berlin"}]}, "description": "Returns the current date, time and weekday, in UTC or in the time zone you name. Call it whenever an answer depends on what day or time it is now; you cannot know that otherwise.", "output_schema": {"type": "object", "properties": {"iso": {"type": "string", "format": "date-time", "description": "ISO 8601, with the zone''s offset."}, "unix": {"type": "integer", "description": "Seconds since 1970-01-01T00:00:00Z."}, "timezone": {"type": "string", "description": "The time zone of `iso`, `date`, `time` and `weekday`."}, "abbreviation": {"type": ["string", "null"], "description": "What the zone is called now, such as CEST."}, "date": {"type": "string", "format": "date"}, "time": {"type": "string", "description": "HH:MM:SS, on a 24-hour clock."}, "weekday": {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]}}, "required": ["iso", "unix", "timezone", "date", "time", "weekday"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Current Time", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:42:40.230132','01a1ef89-fcb4-76c9-a871-bf2c3c29d38f');
INSERT INTO "tool_versions" VALUES('01a1ef89fdce7c61a195100f086af200','9e60bc7b2e6952c6bbf20b00e3006074',1,'{"name": "json_query", "tool_type": "builtin", "config": {"operation": "json_query"}, "input_schema": {"type": "object", "properties": {"data": {"description": "The JSON value to query: an object or array, not a string with JSON in it."}, "query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The JMESPath expression.", "examples": ["items[0].name", "items[?price > `10`].{name: name, price: price}", "sort_by(items, &price)[-1]", "length(items)"]}}, "required": ["data", "query"], "examples": [{"data": {"items": [{"name": "a", "price": 5}, {"name": "b", "price": 20}]}, "query": "items[?price > `10`]"}]}, "description": "Selects, filters, sorts and reshapes parts of a JSON value with a JMESPath query, and returns what it finds; null where nothing matches. Use it to get a few values out of a large JSON result without copying it by hand. Numbers in a query stand in backticks (`10`), strings in single quotes (''red''). It has no arithmetic.", "output_schema": {"type": "object", "properties": {"result": {"description": "What the query selects; null where nothing matches."}}, "required": ["result"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "JSON Query", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:42:40.230132','01a1ef89-fcb4-76c9-a871-bf2c3c29d38f');
INSERT INTO "tool_versions" VALUES('01a1ef89fdd273e2b6b478dba320649a','492cf430bf41555ebdbdf302bf383784',1,'{"name": "query_baseline", "tool_type": "internal", "config": {"handler": "query_baseline"}, "input_schema": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "query_type": {"type": "string", "enum": ["baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["finding_id", "composite_hash", "query_type"], "additionalProperties": false}, "description": "Whether a finding is known: new, recurring or resolved, since when and how often it was seen. Changes nothing.", "output_schema": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Query baseline", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:42:40.230132','01a1ef89-fcb4-76c9-a871-bf2c3c29d38f');
INSERT INTO "tool_versions" VALUES('01a1ef89fdd578ca9a5a125c2b8682d1','3d387905ae305c2882a8c97f9e4aa8d1',1,'{"name": "batch_baseline_query", "tool_type": "internal", "config": {"handler": "batch_baseline_query"}, "input_schema": {"type": "object", "properties": {"finding_ids": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "maxItems": 10000, "description": "What you call the findings"}, "composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "Their hashes, one for each of finding_ids in the same order"}, "query_type": {"type": "string", "enum": ["batch_baseline_check", "baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the same answer"}, "batch_size": {"type": "integer", "minimum": 1, "maximum": 10000, "description": "How many are looked up in one statement; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["finding_ids", "composite_hashes", "query_type"], "additionalProperties": false}, "description": "Whether each of up to 10,000 findings is known, in the order asked. Changes nothing.", "output_schema": {"type": "object", "properties": {"results": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}}}, "required": ["results"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Query baseline for many", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": 33554432, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:42:40.230132','01a1ef89-fcb4-76c9-a871-bf2c3c29d38f');
INSERT INTO "tool_versions" VALUES('01a1ef89fdd87b9aa27c5d948b8274b2','86374af31257591dbc5f4666a9fd2d72',1,'{"name": "record_findings", "tool_type": "internal", "config": {"handler": "record_findings"}, "input_schema": {"type": "object", "properties": {"findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["finding_id", "composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "What was seen"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["findings"], "additionalProperties": false}, "description": "Keep that findings were seen, each time it is called once more; a resolved one that is seen again recurs.", "output_schema": {"type": "object", "properties": {"recorded": {"type": "integer", "minimum": 0}, "new": {"type": "integer", "minimum": 0}, "recurring": {"type": "integer", "minimum": 0}, "reopened": {"type": "integer", "minimum": 0}}, "required": ["recorded", "new", "recurring", "reopened"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Record findings", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:42:40.230132','01a1ef89-fcb4-76c9-a871-bf2c3c29d38f');
INSERT INTO "tool_versions" VALUES('01a1ef89fddb7b999720c10bdbe2b37e','42944903dad95a33ae7df27da4aa4324',1,'{"name": "resolve_findings", "tool_type": "internal", "config": {"handler": "resolve_findings"}, "input_schema": {"type": "object", "properties": {"composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "The hashes of the findings"}, "findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "The findings"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": [], "additionalProperties": false}, "description": "Mark findings resolved, until they are seen again; give composite_hashes or findings.", "output_schema": {"type": "object", "properties": {"resolved": {"type": "integer", "minimum": 0}, "already_resolved": {"type": "integer", "minimum": 0}, "unknown": {"type": "integer", "minimum": 0}}, "required": ["resolved", "already_resolved", "unknown"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Resolve findings", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:42:40.230132','01a1ef89-fcb4-76c9-a871-bf2c3c29d38f');
INSERT INTO "tool_versions" VALUES('01a1ef8a004f7af4a2c3a08ebc4f41bb','01a1ef8a002c7974a8c8dd9cef1a31f3',1,'{"name": "kept", "tool_type": "mock", "config": {"mock_response": {"sky": "clear"}}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden kept", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": true, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:42:41.068584','01a1ef89-fcb4-76c9-a871-bf2c3c29d38f');
INSERT INTO "tool_versions" VALUES('01a1ef8a00d27c1184aae52fc58a9f85','01a1ef8a00967eda854425eacbe68cf5',1,'{"name": "limited", "tool_type": "mock", "config": {"mock_response": 1}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden limited", "output_schema": null, "rate_limit": {"max_calls": 1, "period": "hour", "burst": null, "scope": "caller"}, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:42:41.174923','01a1ef89-fcb4-76c9-a871-bf2c3c29d38f');
INSERT INTO "tool_versions" VALUES('01a1ef8a07c8737d8de5cd0a055401c0','01a1ef8a07ba73f2bec417bad539e3a9',1,'{"name": "note", "tool_type": "table", "config": {"tableName": "notes", "fields": [{"name": "text", "dataType": "text"}]}, "input_schema": {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"text": {"type": ["string", "null"]}}, "required": [], "additionalProperties": false}, "description": "Golden note", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "reject", "result_style": "detailed", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:42:43.002238','01a1ef89-fcb4-76c9-a871-bf2c3c29d38f');
INSERT INTO "tool_versions" VALUES('01a1ef8a07e272d28d5d6ad5b61777ce','01a1ef8a07d9779ebb7cb896006a56e9',1,'{"name": "print", "tool_type": "python", "config": {"code": "def show(text: str) -> str:\n    print(''printed'', text)\n    return text\n"}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden print", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:42:43.033470','01a1ef89-fcb4-76c9-a871-bf2c3c29d38f');
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
	drifted BOOLEAN NOT NULL, keep_result BOOLEAN DEFAULT 0 NOT NULL, display JSON, on_disconnect VARCHAR(20) DEFAULT 'cancel' NOT NULL, 
	CONSTRAINT pk_tools PRIMARY KEY (id), 
	CONSTRAINT ck_tools_tool_type CHECK (tool_type IN ('http', 'mcp', 'python', 'shell', 'builtin', 'mock', 'internal', 'table')), 
	CONSTRAINT ck_tools_is_active CHECK (is_active IS NOT NULL), 
	CONSTRAINT ck_tools_is_public CHECK (is_public IS NOT NULL), 
	CONSTRAINT fk_tools_owner_id FOREIGN KEY(owner_id) REFERENCES users (id)
);
INSERT INTO "tools" VALUES('4f56c6ab4df05007b19254f29c273c7e',1,'2026-11-18 16:42:40.230132','2026-11-18 16:42:40.230132',0,NULL,'01a1ef89fcb476c9a871bf2c3c29d38f','math_eval','Evaluates one arithmetic expression and returns the number. Use it for any calculation beyond trivial mental arithmetic instead of working it out yourself. Operators: + - * / // (floor division) % (modulo, not percent) ^ or ** (power) and ! (factorial). Constants: pi, e, tau. Functions: sqrt, cbrt, abs, round, floor, ceil, trunc, sign, exp, log, ln, log2, log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, min, max, sum, mean, pow, mod, gcd, lcm, factorial, hypot, degrees, radians. Angles are in radians; log is natural unless written log(x, base). There are no variables, comparisons, lists or units, and numbers are written without thousands separators.','builtin','{"operation": "math_eval"}','{"type": "object", "properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "The expression to evaluate.", "examples": ["2+2", "(1 + 0.05)^10 * 1000", "sqrt(3^2 + 4^2)", "sin(radians(30))"]}}, "required": ["expression"], "examples": [{"expression": "(1 + 0.05)^10 * 1000"}]}','{"type": "object", "properties": {"result": {"type": "number", "description": "The value; whole numbers beyond 64 bits are rounded to a floating-point number."}}, "required": ["result"]}',NULL,NULL,1,1,1,'Calculator','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('6b6d2eda2c7950659ce66502d73cc282',1,'2026-11-18 16:42:40.230132','2026-11-18 16:42:40.230132',0,NULL,'01a1ef89fcb476c9a871bf2c3c29d38f','echo','Returns exactly the arguments it was called with, under `echo`. Use it to check that tool calls work and how your arguments arrive; it does nothing else.','builtin','{"operation": "echo"}','{"type": "object", "additionalProperties": true, "examples": [{"message": "hello"}]}','{"type": "object", "properties": {"echo": {"type": "object", "description": "The arguments of the call."}}, "required": ["echo"]}',NULL,NULL,1,1,1,'Echo','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('85f568ed8cd35e11a508d3927f353e28',1,'2026-11-18 16:42:40.230132','2026-11-18 16:42:40.230132',0,NULL,'01a1ef89fcb476c9a871bf2c3c29d38f','calculate_rsi','Calculates the relative strength index (RSI) of a series of prices, with Wilder''s smoothing, and says whether the last value is overbought or oversold. Give the closing prices oldest first, at least period + 1 of them; around 100 or more make the smoothing settle. It fetches no prices: you must have them already.','builtin','{"operation": "calculate_rsi"}','{"type": "object", "properties": {"prices": {"type": "array", "items": {"type": "number", "minimum": -1e+300, "maximum": 1e+300}, "minItems": 2, "maxItems": 100000, "description": "Closing prices, oldest first; at least period + 1.", "examples": [[44.34, 44.09, 44.15, 43.61, 44.33]]}, "period": {"type": "integer", "minimum": 1, "maximum": 99999, "default": 14, "description": "How many price changes are averaged; 14 is usual."}, "overbought": {"type": "number", "minimum": 0, "maximum": 100, "default": 70, "description": "The RSI from which on the answer''s `overbought` is true."}, "oversold": {"type": "number", "minimum": 0, "maximum": 100, "default": 30, "description": "The RSI down from which the answer''s `oversold` is true."}, "include_series": {"type": "boolean", "default": true, "description": "false leaves `series` out of the answer: shorter when only the last value matters."}}, "required": ["prices"], "examples": [{"prices": [44.34, 44.09, 44.15, 43.61, 44.33], "period": 3}]}','{"type": "object", "properties": {"rsi": {"type": "number", "minimum": 0, "maximum": 100, "description": "The RSI at the last price."}, "overbought": {"type": "boolean", "description": "Whether `rsi` is at or above the threshold."}, "oversold": {"type": "boolean", "description": "Whether `rsi` is at or below the threshold."}, "period": {"type": "integer", "description": "The period that was used."}, "series": {"type": "array", "items": {"type": ["number", "null"]}, "description": "The RSI at every price, as many as `prices`; null for the first `period` of them."}}, "required": ["rsi", "overbought", "oversold", "period"]}',NULL,NULL,1,1,1,'Calculate RSI','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('41a86778e8bd54c69de12c75630f7f9e',1,'2026-11-18 16:42:40.230132','2026-11-18 16:42:40.230132',0,NULL,'01a1ef89fcb476c9a871bf2c3c29d38f','current_time','Returns the current date, time and weekday, in UTC or in the time zone you name. Call it whenever an answer depends on what day or time it is now; you cannot know that otherwise.','builtin','{"operation": "current_time"}','{"type": "object", "properties": {"timezone": {"type": "string", "maxLength": 64, "default": "UTC", "description": "An IANA time zone name.", "examples": ["UTC", "Europe/Berlin", "America/New_York"]}}, "examples": [{}, {"timezone": "Europe/Berlin"}]}','{"type": "object", "properties": {"iso": {"type": "string", "format": "date-time", "description": "ISO 8601, with the zone''s offset."}, "unix": {"type": "integer", "description": "Seconds since 1970-01-01T00:00:00Z."}, "timezone": {"type": "string", "description": "The time zone of `iso`, `date`, `time` and `weekday`."}, "abbreviation": {"type": ["string", "null"], "description": "What the zone is called now, such as CEST."}, "date": {"type": "string", "format": "date"}, "time": {"type": "string", "description": "HH:MM:SS, on a 24-hour clock."}, "weekday": {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]}}, "required": ["iso", "unix", "timezone", "date", "time", "weekday"]}',NULL,NULL,1,1,1,'Current Time','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('9e60bc7b2e6952c6bbf20b00e3006074',1,'2026-11-18 16:42:40.230132','2026-11-18 16:42:40.230132',0,NULL,'01a1ef89fcb476c9a871bf2c3c29d38f','json_query','Selects, filters, sorts and reshapes parts of a JSON value with a JMESPath query, and returns what it finds; null where nothing matches. Use it to get a few values out of a large JSON result without copying it by hand. Numbers in a query stand in backticks (`10`), strings in single quotes (''red''). It has no arithmetic.','builtin','{"operation": "json_query"}','{"type": "object", "properties": {"data": {"description": "The JSON value to query: an object or array, not a string with JSON in it."}, "query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The JMESPath expression.", "examples": ["items[0].name", "items[?price > `10`].{name: name, price: price}", "sort_by(items, &price)[-1]", "length(items)"]}}, "required": ["data", "query"], "examples": [{"data": {"items": [{"name": "a", "price": 5}, {"name": "b", "price": 20}]}, "query": "items[?price > `10`]"}]}','{"type": "object", "properties": {"result": {"description": "What the query selects; null where nothing matches."}}, "required": ["result"]}',NULL,NULL,1,1,1,'JSON Query','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('492cf430bf41555ebdbdf302bf383784',1,'2026-11-18 16:42:40.230132','2026-11-18 16:42:40.230132',0,NULL,'01a1ef89fcb476c9a871bf2c3c29d38f','query_baseline','Whether a finding is known: new, recurring or resolved, since when and how often it was seen. Changes nothing.','internal','{"handler": "query_baseline"}','{"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "query_type": {"type": "string", "enum": ["baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["finding_id", "composite_hash", "query_type"], "additionalProperties": false}','{"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}',NULL,NULL,1,1,1,'Query baseline','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('3d387905ae305c2882a8c97f9e4aa8d1',1,'2026-11-18 16:42:40.230132','2026-11-18 16:42:40.230132',0,NULL,'01a1ef89fcb476c9a871bf2c3c29d38f','batch_baseline_query','Whether each of up to 10,000 findings is known, in the order asked. Changes nothing.','internal','{"handler": "batch_baseline_query"}','{"type": "object", "properties": {"finding_ids": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "maxItems": 10000, "description": "What you call the findings"}, "composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "Their hashes, one for each of finding_ids in the same order"}, "query_type": {"type": "string", "enum": ["batch_baseline_check", "baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the same answer"}, "batch_size": {"type": "integer", "minimum": 1, "maximum": 10000, "description": "How many are looked up in one statement; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["finding_ids", "composite_hashes", "query_type"], "additionalProperties": false}','{"type": "object", "properties": {"results": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}}}, "required": ["results"], "additionalProperties": false}',NULL,NULL,1,1,1,'Query baseline for many','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,1,0,0,33554432,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('86374af31257591dbc5f4666a9fd2d72',1,'2026-11-18 16:42:40.230132','2026-11-18 16:42:40.230132',0,NULL,'01a1ef89fcb476c9a871bf2c3c29d38f','record_findings','Keep that findings were seen, each time it is called once more; a resolved one that is seen again recurs.','internal','{"handler": "record_findings"}','{"type": "object", "properties": {"findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["finding_id", "composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "What was seen"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["findings"], "additionalProperties": false}','{"type": "object", "properties": {"recorded": {"type": "integer", "minimum": 0}, "new": {"type": "integer", "minimum": 0}, "recurring": {"type": "integer", "minimum": 0}, "reopened": {"type": "integer", "minimum": 0}}, "required": ["recorded", "new", "recurring", "reopened"], "additionalProperties": false}',NULL,NULL,1,1,1,'Record findings','["baseline"]',NULL,'ignore','envelope',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('42944903dad95a33ae7df27da4aa4324',1,'2026-11-18 16:42:40.230132','2026-11-18 16:42:40.230132',0,NULL,'01a1ef89fcb476c9a871bf2c3c29d38f','resolve_findings','Mark findings resolved, until they are seen again; give composite_hashes or findings.','internal','{"handler": "resolve_findings"}','{"type": "object", "properties": {"composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "The hashes of the findings"}, "findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "The findings"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": [], "additionalProperties": false}','{"type": "object", "properties": {"resolved": {"type": "integer", "minimum": 0}, "already_resolved": {"type": "integer", "minimum": 0}, "unknown": {"type": "integer", "minimum": 0}}, "required": ["resolved", "already_resolved", "unknown"], "additionalProperties": false}',NULL,NULL,1,1,1,'Resolve findings','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,0,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('01a1ef8a002c7974a8c8dd9cef1a31f3',2,'2026-11-18 16:42:41.068584','2026-11-18 16:42:41.068584',0,NULL,'01a1ef89fcb476c9a871bf2c3c29d38f','kept','Golden kept','mock','{"mock_response": {"sky": "clear"}}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,1,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('01a1ef8a00967eda854425eacbe68cf5',3,'2026-11-18 16:42:41.174923','2026-11-18 16:42:41.174923',0,NULL,'01a1ef89fcb476c9a871bf2c3c29d38f','limited','Golden limited','mock','{"mock_response": 1}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,'{"max_calls": 1, "period": "hour", "burst": null, "scope": "caller"}',1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('01a1ef8a07ba73f2bec417bad539e3a9',8,'2026-11-18 16:42:43.002238','2026-11-18 16:42:43.002238',0,NULL,'01a1ef89fcb476c9a871bf2c3c29d38f','note','Golden note','table','{"tableName": "notes", "fields": [{"name": "text", "dataType": "text"}]}','{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"text": {"type": ["string", "null"]}}, "required": [], "additionalProperties": false}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'reject','detailed',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('01a1ef8a07d9779ebb7cb896006a56e9',9,'2026-11-18 16:42:43.033470','2026-11-18 16:42:43.033470',0,NULL,'01a1ef89fcb476c9a871bf2c3c29d38f','print','Golden print','python','{"code": "def show(text: str) -> str:\n    print(''printed'', text)\n    return text\n"}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel');
CREATE TABLE users (
	id CHAR(32) NOT NULL, 
	revision BIGINT NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	is_deleted BOOLEAN NOT NULL, 
	deleted_at DATETIME, 
	name VARCHAR(255) NOT NULL, 
	role VARCHAR(20) NOT NULL, 
	CONSTRAINT pk_users PRIMARY KEY (id), 
	CONSTRAINT ck_users_role CHECK (role IN ('admin', 'member'))
);
INSERT INTO "users" VALUES('01a1ef89fcb476c9a871bf2c3c29d38f',1,'2026-11-18 16:42:40.180414','2026-11-18 16:42:40.180414',0,NULL,'admin','admin');
INSERT INTO "users" VALUES('01a1ef8a04f97b8493b50619353cee60',4,'2026-11-18 16:42:42.297711','2026-11-18 16:42:42.297711',0,NULL,'ada','member');
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
INSERT INTO "writers" VALUES(1,'01a1ef89fe8570e0a79e084bd3be83c3','vm',5931,'2026-11-18 16:42:40.835350','2026-11-18 16:43:09.642445',34,24,'f0324a9eb142275a26e03809db534dfc','87a230a4bee4f64c613663d29ca85907',3,'dd0f2893a6aa53a82506abbb59c7c6c5','5e7e797f96ef1a3010e3411912bf7681',24);
INSERT INTO "writers" VALUES(2,'01a1ef8a6a6275ab90dde2a9db38aec1','vm',7661,'2026-11-18 16:43:08.315973','2026-11-18 16:43:09.436560',1,0,'','38c0f08af543b304690e75566bdc4b78',0,'','',0);
INSERT INTO "writers" VALUES(3,'01a1ef8a6c517a5da6f023391558676b','vm',5931,'2026-11-18 16:43:09.437162','2026-11-18 16:43:09.573923',2,1,'147a516106a7555fd5747b70c6336695','9c0499fb04b9cf4ed25f1a033b962e26',0,'','',1);
INSERT INTO "writers" VALUES(4,'01a1ef8aa3c77127a291db783ecbcde3','vm',8700,'2026-11-18 16:43:23.052909','2026-11-18 16:43:23.076426',2,1,'ead08e3c977a4d1ff97434fb62699644','059652af910911416b2abacfb18cd534',0,'','',1);
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
COMMIT;
