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
INSERT INTO "agents" VALUES('01a1ef8ecef47687a040207e357dbad6',6,'2026-11-18 16:47:56.148401','2026-11-18 16:47:56.148401',0,NULL,'01a1ef8ece5a717a98b4b47a175f859f','helper',NULL,'[]');
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0011_key_creators');
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
INSERT INTO "api_keys" VALUES('01a1ef8ec7d278f4a4ad6473ff58d02f',1,'2026-11-18 16:47:54.320814','01a1ef8ec77874df91bcaf123da1642a','PEGBOARD_ADMIN_KEY','','f8dc88c98aa1271ecd563a9593d965a6d17b00defe43b88cb970fe5004985e8f',NULL,NULL,NULL,'551b30c79d770134850354ff5e6dbc2ea6b1aa9dcbeba74215c45e4d34c838b5',NULL);
INSERT INTO "api_keys" VALUES('01a1ef8ecea4739fbc8a8957b5abff5a',5,'2026-11-18 16:47:56.068218','01a1ef8ece5a717a98b4b47a175f859f','laptop','pb_f4rGS','26616e533e080d7ccf541a20ec28ad72621b8fee61428adfd600dea5e67dba2d',NULL,NULL,NULL,'4fcf3dca45129b848e22b533791b0c37813102914aab01a7c04a05d181c9b7d1','01a1ef8ec77874df91bcaf123da1642a');
INSERT INTO "api_keys" VALUES('01a1ef8ecf507fb0a1df4633c080180f',7,'2026-11-18 16:47:56.240970','01a1ef8ece5a717a98b4b47a175f859f','robot','pb_W4BuG','8b5643e04e62ead326c7e9ad26520f9a116606c99f9f2ed0edbd00a4f565fa71','01a1ef8ecef47687a040207e357dbad6',NULL,NULL,'b24802904cea5a7ed51d0db87808e0cd60f59da2b29e59c95edf3baa89f6ba0e','01a1ef8ec77874df91bcaf123da1642a');
CREATE TABLE board_state (
	id INTEGER NOT NULL, 
	revision BIGINT NOT NULL, writers INTEGER DEFAULT '0' NOT NULL, writers_signature VARCHAR(32) DEFAULT '' NOT NULL, 
	CONSTRAINT pk_board_state PRIMARY KEY (id), 
	CONSTRAINT ck_board_state_single CHECK (id = 1)
);
INSERT INTO "board_state" VALUES(1,12,4,'e80db78a2cfc8e83c9c2958fd0af7193');
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
INSERT INTO "execution_counts" VALUES(498616,'','','refused','tool_not_found',89,1);
INSERT INTO "execution_counts" VALUES(498616,'','','refused','tool_not_found',101,1);
INSERT INTO "execution_counts" VALUES(498616,'','dies','in_doubt','in_doubt',99,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',72,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',81,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',83,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',85,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',87,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',90,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',99,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',138,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',160,1);
INSERT INTO "execution_counts" VALUES(498616,'','fails','failed','execution_failed',165,1);
INSERT INTO "execution_counts" VALUES(498616,'','kept','refused','missing',104,1);
INSERT INTO "execution_counts" VALUES(498616,'','kept','succeeded','',116,1);
INSERT INTO "execution_counts" VALUES(498616,'','limited','refused','rate_limited',88,1);
INSERT INTO "execution_counts" VALUES(498616,'','limited','succeeded','',111,1);
INSERT INTO "execution_counts" VALUES(498616,'','math_eval','failed','execution_failed',115,1);
INSERT INTO "execution_counts" VALUES(498616,'','math_eval','succeeded','',98,1);
INSERT INTO "execution_counts" VALUES(498616,'','note','succeeded','',191,1);
INSERT INTO "execution_counts" VALUES(498616,'','once','refused','idempotency_conflict',167,1);
INSERT INTO "execution_counts" VALUES(498616,'','once','succeeded','',183,2);
INSERT INTO "execution_counts" VALUES(498616,'','print','succeeded','',246,1);
INSERT INTO "execution_counts" VALUES(498616,'','replaced','succeeded','',181,1);
INSERT INTO "execution_counts" VALUES(498616,'','tried','failed','contract_violation',173,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8e-c778-74df-91bc-af123da1642a','','refused','tool_not_found',101,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8e-c778-74df-91bc-af123da1642a','dies','in_doubt','in_doubt',99,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8e-c778-74df-91bc-af123da1642a','echo','succeeded','',72,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8e-c778-74df-91bc-af123da1642a','echo','succeeded','',81,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8e-c778-74df-91bc-af123da1642a','echo','succeeded','',83,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8e-c778-74df-91bc-af123da1642a','echo','succeeded','',87,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8e-c778-74df-91bc-af123da1642a','echo','succeeded','',99,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8e-c778-74df-91bc-af123da1642a','echo','succeeded','',138,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8e-c778-74df-91bc-af123da1642a','echo','succeeded','',160,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8e-c778-74df-91bc-af123da1642a','fails','failed','execution_failed',165,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8e-c778-74df-91bc-af123da1642a','kept','refused','missing',104,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8e-c778-74df-91bc-af123da1642a','kept','succeeded','',116,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8e-c778-74df-91bc-af123da1642a','limited','refused','rate_limited',88,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8e-c778-74df-91bc-af123da1642a','limited','succeeded','',111,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8e-c778-74df-91bc-af123da1642a','math_eval','failed','execution_failed',115,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8e-c778-74df-91bc-af123da1642a','math_eval','succeeded','',98,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8e-c778-74df-91bc-af123da1642a','note','succeeded','',191,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8e-c778-74df-91bc-af123da1642a','once','refused','idempotency_conflict',167,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8e-c778-74df-91bc-af123da1642a','once','succeeded','',183,2);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8e-c778-74df-91bc-af123da1642a','print','succeeded','',246,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8e-c778-74df-91bc-af123da1642a','replaced','succeeded','',181,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8e-c778-74df-91bc-af123da1642a','tried','failed','contract_violation',173,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8e-ce5a-717a-98b4-b47a175f859f','','refused','tool_not_found',89,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8e-ce5a-717a-98b4-b47a175f859f','echo','succeeded','',85,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8e-ce5a-717a-98b4-b47a175f859f','echo','succeeded','',90,1);
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
INSERT INTO "executions" VALUES('01a1ef8ecb48795e9d4799659bd94f88','echo','succeeded','2026-11-18 16:47:55.208575','2026-11-18 16:47:55.209012',0.373,'01a1ef8e-c778-74df-91bc-af123da1642a','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef8e-cb48-795e-9d47-99659bd94f88',NULL,NULL,'cd0f0d83706a17ea49ee2900174577de',NULL,NULL,NULL,NULL,NULL,NULL,1,4,'12fd8bf07a867b904303672d3d1501d8',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8ecb637d25a4eb398842d84daf','kept','succeeded','2026-11-18 16:47:55.235812','2026-11-18 16:47:55.236906',1.027,'01a1ef8e-c778-74df-91bc-af123da1642a','admin','library','plain',1,'01a1ef8e-ca12-7599-b035-821e5b444d40',1,'mock',NULL,NULL,'01a1ef8e-cb63-7d25-a4eb-398842d84daf',NULL,NULL,'04afeb67bf3fc8b88677c64a7af81b6f','{"text":"a ☃ and a 😀, \"quoted\", \\ and a\nline","number":-1.5e+300}',NULL,NULL,NULL,NULL,NULL,1,5,'3ff752eafe90646fb0d51340a92d7c1e',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8ecb8e730f845bd81cd7bdd628','fails','failed','2026-11-18 16:47:55.278183','2026-11-18 16:47:55.297269',19.038,'01a1ef8e-c778-74df-91bc-af123da1642a','admin','library','plain',1,'292d6f6c-a238-532d-ba7c-02469f556f4e',1,'internal',NULL,NULL,'01a1ef8e-cb8e-730f-845b-d81cd7bdd628','execution_failed','cannot do a ☃ and a 😀, "quoted", \ and a
line','cd0f0d83706a17ea49ee2900174577de',NULL,NULL,NULL,NULL,NULL,NULL,1,6,'4a08333085a805a14bfb86cac73c7c62',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8ecbb8792aa2d4bb3ae1bff9f8','math_eval','failed','2026-11-18 16:47:55.320561','2026-11-18 16:47:55.321602',0.988,'01a1ef8e-c778-74df-91bc-af123da1642a','admin','library','plain',1,'4f56c6ab-4df0-5007-b192-54f29c273c7e',1,'builtin',NULL,NULL,'01a1ef8e-cbb8-792a-a2d4-bb3ae1bff9f8','execution_failed','Division by zero at position 2; change the divisor','cf36e7d8cf84cfc1fe55bc2643e104c7',NULL,NULL,NULL,NULL,NULL,NULL,1,7,'363602e53175c6e8f77aa48d2b9c2bf0',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8ecbd17df29e1c6fbfeebc8985','kept','refused','2026-11-18 16:47:55.345862','2026-11-18 16:47:55.346428',0.512,'01a1ef8e-c778-74df-91bc-af123da1642a','admin','library','plain',0,'01a1ef8e-ca12-7599-b035-821e5b444d40',1,'mock',NULL,NULL,'01a1ef8e-cbd1-7df2-9e1c-6fbfeebc8985','missing','Invalid parameters: missing ''text''',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,8,'86ec03e98f4bf00f30b32f7813705e50',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8ecbe47a31812502cad09f775e','no_such_tool','refused','2026-11-18 16:47:55.364628','2026-11-18 16:47:55.365097',0.415,'01a1ef8e-c778-74df-91bc-af123da1642a','admin','library','plain',0,NULL,NULL,NULL,NULL,NULL,'01a1ef8e-cbe4-7a31-8125-02cad09f775e','tool_not_found','Tool ''no_such_tool'' not found',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,9,'43e7ef09ffc41576e659d4cf7f354513',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8ecbe87521a6f50215bb51f2c6','limited','succeeded','2026-11-18 16:47:55.368316','2026-11-18 16:47:55.369115',0.762,'01a1ef8e-c778-74df-91bc-af123da1642a','admin','library','plain',1,'01a1ef8e-ca94-7433-bb5c-83f45702cd71',1,'mock',NULL,NULL,'01a1ef8e-cbe8-7521-a6f5-0215bb51f2c6',NULL,NULL,'afb28e1f602effa9cdef1b22af63691c',NULL,NULL,NULL,NULL,NULL,NULL,1,10,'1aaa557514251356a2e1eab7c64e0b17',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8ecbf076b88151ee96595231b5','limited','refused','2026-11-18 16:47:55.376412','2026-11-18 16:47:55.376658',0.195,'01a1ef8e-c778-74df-91bc-af123da1642a','admin','library','plain',0,'01a1ef8e-ca94-7433-bb5c-83f45702cd71',1,'mock',NULL,NULL,'01a1ef8e-cbf0-76b8-8151-ee96595231b5','rate_limited','Rate limit of ''limited'' reached: 1 call per hour; try again in 3600 s','427802ec5135d3b03cf4d983e2ad8ff6',NULL,NULL,NULL,NULL,NULL,NULL,1,11,'9558ecd427b8b105efc61da27abed680',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8ecfc5747782bf369180957c49','echo','succeeded','2026-11-18 16:47:56.357271','2026-11-18 16:47:56.357531',0.216,'01a1ef8e-ce5a-717a-98b4-b47a175f859f','ada','rest','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin','01a1ef8e-cea4-739f-bc8a-8957b5abff5a',NULL,'request-1',NULL,NULL,'585956604cb753f868e7e00c6374676b',NULL,NULL,NULL,NULL,NULL,NULL,1,12,'ad5ed430c0b388739834506cf7884a4f',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8ecfee76d589f9a1f357040567','echo','refused','2026-11-18 16:47:56.398420','2026-11-18 16:47:56.398690',0.197,'01a1ef8e-ce5a-717a-98b4-b47a175f859f','ada','rest','plain',0,NULL,NULL,NULL,'01a1ef8e-cf50-7fb0-a1df-4633c080180f','01a1ef8e-cef4-7687-a040-207e357dbad6','01a1ef8e-cfee-76d5-89f9-a1f357040567','tool_not_found','Tool ''echo'' not found',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,13,'bc2d42df65f1353824b6ed47ca5fb5d6',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8ed01d757c9b98a69a080c2a51','echo','succeeded','2026-11-18 16:47:56.445336','2026-11-18 16:47:56.445538',0.16,'01a1ef8e-ce5a-717a-98b4-b47a175f859f','ada','rest','openai_chat',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin','01a1ef8e-cea4-739f-bc8a-8957b5abff5a',NULL,'01a1ef8e-d01c-7d1c-b16d-546b1372d9de',NULL,NULL,'1375109fe6c7fa90b9e1993790c67a97',NULL,NULL,NULL,NULL,NULL,NULL,1,14,'d6908c0139ae11ef5608531d453ed089',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8ed0587ee5bee141aebb376c37','once','succeeded','2026-11-18 16:47:56.504920','2026-11-18 16:47:56.562434',57.449,'01a1ef8e-c778-74df-91bc-af123da1642a','admin','library','plain',1,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1ef8e-d058-7ee5-bee1-41aebb376c37',NULL,NULL,'ebf5019910dba6d4ce108a273dfa32a9',NULL,NULL,NULL,NULL,NULL,'"A"',1,15,'9ae0ff167fd5239872f101c57155f7a6',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8ed0b276afb7643bf66ad4f1e7','once','succeeded','2026-11-18 16:47:56.594407','2026-11-18 16:47:56.616602',57.449,'01a1ef8e-c778-74df-91bc-af123da1642a','admin','library','plain',0,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1ef8e-d0b2-76af-b764-3bf66ad4f1e7',NULL,NULL,'ebf5019910dba6d4ce108a273dfa32a9',NULL,NULL,NULL,NULL,'01a1ef8e-d058-7ee5-bee1-41aebb376c37','"A"',1,16,'27a20f0ef934dd32c0971699a3d28223',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8ed0dc7fdc827507b887b47085','once','refused','2026-11-18 16:47:56.636983','2026-11-18 16:47:56.658405',21.373,'01a1ef8e-c778-74df-91bc-af123da1642a','admin','library','plain',0,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1ef8e-d0dc-7fdc-8275-07b887b47085','idempotency_conflict','This idempotency key was used for ''once'' with other arguments; send the same arguments again, or a new key for a new call','c035d2973ceb5f1a2671fcc4f99a76e4',NULL,NULL,NULL,NULL,NULL,NULL,1,17,'13bbc27543542bdf183d440f859e0863',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8ed12a706cbc3809fc598a765e','tried','failed','2026-11-18 16:47:56.714022','2026-11-18 16:47:56.745717',31.619,'01a1ef8e-c778-74df-91bc-af123da1642a','admin','library','plain',2,'47fe7a73-0ae4-5d70-aa28-58a231407683',1,'internal',NULL,NULL,'01a1ef8e-d12a-706c-bc38-09fc598a765e','contract_violation','The tool''s output breaks its output schema: The output must be an integer','dd5c5763eab476e8d0a6f3db361acb99',NULL,NULL,NULL,NULL,NULL,NULL,1,18,'d7a1f65d168ca4cd9e714f76d62197e6',NULL,'[{"attempt":1,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":4.393},{"attempt":2,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":0.427}]');
INSERT INTO "executions" VALUES('01a1ef8ed1577046841e82036eed8a98','replaced','succeeded','2026-11-18 16:47:56.759007','2026-11-18 16:47:56.808362',49.301,'01a1ef8e-c778-74df-91bc-af123da1642a','admin','library','plain',2,'0b58c42c-a575-56ea-8e61-45f3fdeaeca4',1,'internal',NULL,NULL,'01a1ef8e-d157-7046-841e-82036eed8a98',NULL,NULL,'dd5c5763eab476e8d0a6f3db361acb99',NULL,NULL,NULL,NULL,NULL,NULL,1,19,'21a236b697c0349fe1f1aade6ccdc49d',NULL,'[{"attempt":1,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":2.79},{"attempt":2,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":6.614}]');
INSERT INTO "executions" VALUES('01a1ef8ed35a7d2cb32ed5b4d45c68dc','note','succeeded','2026-11-18 16:47:57.274816','2026-11-18 16:47:57.368974',94.105,'01a1ef8e-c778-74df-91bc-af123da1642a','admin','library','plain',1,'01a1ef8e-d1b0-77f4-aaf1-91d6d44d0c64',1,'table',NULL,NULL,'01a1ef8e-d35a-7d2c-b32e-d5b4d45c68dc',NULL,NULL,'286b4211207f0ab218afbf73432663b9',NULL,'1',NULL,NULL,NULL,NULL,1,20,'255b3b94a506e361006d97b54abf10e8',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8ed3cc79818f8016c4aa695119','print','succeeded','2026-11-18 16:47:57.388584','2026-11-18 16:47:59.870286',2481.651,'01a1ef8e-c778-74df-91bc-af123da1642a','admin','library','plain',1,'01a1ef8e-d2b4-72e2-8cb0-527921ae49fd',1,'python',NULL,NULL,'01a1ef8e-d3cc-7981-8f80-16c4aa695119',NULL,NULL,'5fee400a653dc08c6bdeefc14f77c959',NULL,NULL,NULL,NULL,NULL,NULL,1,21,'8e20285067d05d123176ea5ab26834bd','printed text
',NULL);
INSERT INTO "executions" VALUES('01a1ef8edd8170ffa75b435959c4855d','math_eval','succeeded','2026-11-18 16:47:59.873155','2026-11-18 16:47:59.873523',0.343,'01a1ef8e-c778-74df-91bc-af123da1642a','admin','library','plain',1,'4f56c6ab-4df0-5007-b192-54f29c273c7e',1,'builtin',NULL,NULL,'01a1ef8e-dd81-70ff-a75b-435959c4855d',NULL,NULL,'2990fe3260d230354cf16e4c0f10825a',NULL,NULL,'01a1ef8e-dd80-7d76-83f2-e66c8239d290',NULL,NULL,NULL,1,22,'8904802b1aa56fa8a3a9d6c25156ac11',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8edd8278b591fda30a024a846d','echo','succeeded','2026-11-18 16:47:59.874557','2026-11-18 16:47:59.874643',0.074,'01a1ef8e-c778-74df-91bc-af123da1642a','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef8e-dd82-78b5-91fd-a30a024a846d',NULL,NULL,'0873f183e4e8bddb76ef4928f26d0755',NULL,NULL,'01a1ef8e-dd80-7d76-83f2-e66c8239d290',NULL,NULL,NULL,1,23,'4c86950cd832f4547f5267c940071463',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8edd9570eea58f5e4ac74c472c','echo','succeeded','2026-11-18 16:47:59.893052','2026-11-18 16:47:59.893228',0.14,'01a1ef8e-c778-74df-91bc-af123da1642a','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef8e-dd95-70ee-a58f-5e4ac74c472c',NULL,NULL,'6d51610813050d054e9eb272a1aa0ba2',NULL,NULL,NULL,'01a1ef8e-dd83-7a85-9db8-3f325a9ed5b0',NULL,NULL,1,24,'4253aede63b0ae8873a3116308ab117b',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8f2c2b75e588457475801bc961','dies','in_doubt','2026-11-18 16:48:20.011364','2026-11-18 16:48:20.306776',0.379,'01a1ef8e-c778-74df-91bc-af123da1642a','admin','library','plain',1,'301f3051-930d-5d5d-ae86-e078a5b82b33',1,'internal',NULL,NULL,'01a1ef8f-2c2b-75e5-8845-7475801bc961','in_doubt','The server ended while this call was running; whether it took effect is not known','dd5c5763eab476e8d0a6f3db361acb99',NULL,NULL,NULL,NULL,NULL,NULL,3,1,'f1d8653818aaafb1f834373c0ce0f223',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8f7b4177688b6b9eb220178452','echo','succeeded','2026-11-18 16:48:40.257452','2026-11-18 16:48:40.261345',3.797,'01a1ef8e-c778-74df-91bc-af123da1642a','admin','cli','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef8f-7b41-7768-8b6b-9eb220178452',NULL,NULL,'db6dee7e76a6ac33777fa273b15fcf9e',NULL,NULL,NULL,NULL,NULL,NULL,4,1,'c319763b757323b859f470e3b7089d06',NULL,NULL);
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
INSERT INTO "intents" VALUES('01a1ef8ed0587ee5bee141aebb376c37',1,'done','',0,'af8ab2965f0bcaf64069589249d83ebc6482f99995cd6f6ffa5021bd6eebccc5','ebf5019910dba6d4ce108a273dfa32a9','pb1:b3457b1d:WskD1ijL11RC-d-5_HNWrZyVNHFkTtKv_rjFFpCDE6TWRjmLHI1YK3sHCYXAhzseqffz5LiDI6SzbjXn3fnfUthGZgMCKXfOnROqI3_dgeYNhxyVYSasaSGhSs2AQdCrfas9mxcCg6xuOGVAsMdfOwpJbVBE2rkdqnbyOgq8NS9gzhQ6PIhT6Q','2026-11-19 16:47:56.505503');
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
INSERT INTO "messages" VALUES('01a1ef8edd837a859db83f325a9ed5b0',0,'01a1ef8eddca71baa138c6bc22cacc44','assistant',NULL,'2026-11-18 16:47:59.897214','[{"id":"call_01a1ef8edd9570eea58f5e4ac74c472c","name":"echo","arguments":{"text":"thread"},"result":{"echo":{"text":"thread"}},"duration_ms":0.14,"attempts":1,"run_id":"01a1ef8e-dd95-70ee-a58f-5e4ac74c472c","result_valid":true}]','plain',NULL);
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
INSERT INTO "secrets" VALUES('01a1ef8ec79b74f3815f08b29aa81dd3',1,'2026-11-18 16:47:54.267302','2026-11-18 16:47:54.267302','01a1ef8ec77874df91bcaf123da1642a','$root','pb1:b3457b1d:8JlMCAcGRwTa3ROY1vP2-m1URzp8M7qXWz7FxGJfLW4Z_ou4bgH0YKPPzD5hoeu02zfC91502jy3Do4m0pouKpQ-BJDbeiSh3jKrAI6Pow');
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
INSERT INTO "threads" VALUES('01a1ef8edd837a859db83f325a9ed5b0','01a1ef8ec77874df91bcaf123da1642a','golden',1,'2026-11-18 16:47:59.875654','2026-11-18 16:47:59.897430',NULL);
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
INSERT INTO "tool_versions" VALUES('01a1ef8ec83372dd933927a8ec850580','4f56c6ab4df05007b19254f29c273c7e',1,'{"name": "math_eval", "tool_type": "builtin", "config": {"operation": "math_eval"}, "input_schema": {"type": "object", "properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "The expression to evaluate.", "examples": ["2+2", "(1 + 0.05)^10 * 1000", "sqrt(3^2 + 4^2)", "sin(radians(30))"]}}, "required": ["expression"], "examples": [{"expression": "(1 + 0.05)^10 * 1000"}]}, "description": "Evaluates one arithmetic expression and returns the number. Use it for any calculation beyond trivial mental arithmetic instead of working it out yourself. Operators: + - * / // (floor division) % (modulo, not percent) ^ or ** (power) and ! (factorial). Constants: pi, e, tau. Functions: sqrt, cbrt, abs, round, floor, ceil, trunc, sign, exp, log, ln, log2, log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, min, max, sum, mean, pow, mod, gcd, lcm, factorial, hypot, degrees, radians. Angles are in radians; log is natural unless written log(x, base). There are no variables, comparisons, lists or units, and numbers are written without thousands separators.", "output_schema": {"type": "object", "properties": {"result": {"type": "number", "description": "The value; whole numbers beyond 64 bits are rounded to a floating-point number."}}, "required": ["result"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Calculator", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:47:54.346572','01a1ef8e-c778-74df-91bc-af123da1642a');
INSERT INTO "tool_versions" VALUES('01a1ef8ec83373ea994cac915bcceba9','6b6d2eda2c7950659ce66502d73cc282',1,'{"name": "echo", "tool_type": "builtin", "config": {"operation": "echo"}, "input_schema": {"type": "object", "additionalProperties": true, "examples": [{"message": "hello"}]}, "description": "Returns exactly the arguments it was called with, under `echo`. Use it to check that tool calls work and how your arguments arrive; it does nothing else.", "output_schema": {"type": "object", "properties": {"echo": {"type": "object", "description": "The arguments of the call."}}, "required": ["echo"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Echo", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:47:54.346572','01a1ef8e-c778-74df-91bc-af123da1642a');
INSERT INTO "tool_versions" VALUES('01a1ef8ec8337434a5864b773a2e8d93','85f568ed8cd35e11a508d3927f353e28',1,'{"name": "calculate_rsi", "tool_type": "builtin", "config": {"operation": "calculate_rsi"}, "input_schema": {"type": "object", "properties": {"prices": {"type": "array", "items": {"type": "number", "minimum": -1e+300, "maximum": 1e+300}, "minItems": 2, "maxItems": 100000, "description": "Closing prices, oldest first; at least period + 1.", "examples": [[44.34, 44.09, 44.15, 43.61, 44.33]]}, "period": {"type": "integer", "minimum": 1, "maximum": 99999, "default": 14, "description": "How many price changes are averaged; 14 is usual."}, "overbought": {"type": "number", "minimum": 0, "maximum": 100, "default": 70, "description": "The RSI from which on the answer''s `overbought` is true."}, "oversold": {"type": "number", "minimum": 0, "maximum": 100, "default": 30, "description": "The RSI down from which the answer''s `oversold` is true."}, "include_series": {"type": "boolean", "default": true, "description": "false leaves `series` out of the answer: shorter when only the last value matters."}}, "required": ["prices"], "examples": [{"prices": [44.34, 44.09, 44.15, 43.61, 44.33], "period": 3}]}, "description": "Calculates the relative strength index (RSI) of a series of prices, with Wilder''s smoothing, and says whether the last value is overbought or oversold. Give the closing prices oldest first, at least period + 1 of them; around 100 or more make the smoothing settle. It fetches no prices: you must have them already.", "output_schema": {"type": "object", "properties": {"rsi": {"type": "number", "minimum": 0, "maximum": 100, "description": "The RSI at the last price."}, "overbought": {"type": "boolean", "description": "Whether `rsi` is at or above the threshold."}, "oversold": {"type": "boolean", "description": "Whether `rsi` is at or below the threshold."}, "period": {"type": "integer", "description": "The period that was used."}, "series": {"type": "array", "items": {"type": ["number", "null"]}, "description": "The RSI at every price, as many as `prices`; null for the first `period` of them."}}, "required": ["rsi", "overbought", "oversold", "period"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Calculate RSI", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:47:54.346572','01a1ef8e-c778-74df-91bc-af123da1642a');
INSERT INTO "tool_versions" VALUES('01a1ef8ec833746cb1fff0349ce649f7','41a86778e8bd54c69de12c75630f7f9e',1,'{"name": "current_time", "tool_type": "builtin", "config": {"operation": "current_time"}, "input_schema": {"type": "object", "properties": {"timezone": {"type": "string", "maxLength": 64, "default": "UTC", "description": "An IANA time zone name.", "examples": ["UTC", "Europe/Berlin", "America/New_York"]}}, "examples": [{}, {"timezone": "Europe/Berlin"}]}, "description": "Returns the current date, time and weekday, in UTC or in the time zone you name. Call it whenever an answer depends on what day or time it is now; you cannot know that otherwise.", "output_schema": {"type": "object", "properties": {"iso": {"type": "string", "format": "date-time", "description": "ISO 8601, with the zone''s offset."}, "unix": {"type": "integer", "description": "Seconds since 1970-01-01T00:00:00Z."}, "timezone": {"type": "string", "description": "The time zone of `iso`, `date`, `time` and `weekday`."}, "abbreviation": {"type": ["string", "null"], "description": "What the zone is called now, such as CEST."}, "date": {"type": "string", "format": "date"}, "time": {"type": "string", "description": "HH:MM:SS, on a 24-hour clock."}, "weekday": {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]}}, "required": ["iso", "unix", "timezone", "date", "time", "weekday"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Current Time", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:47:54.346572','01a1ef8e-c778-74df-91bc-af123da1642a');
INSERT INTO "tool_versions" VALUES('01a1ef8ec83374a0a9dd69894bc14420','9e60bc7b2e6952c6bbf20b00e3006074',1,'{"name": "json_query", "tool_type": "builtin", "config": {"operation": "json_query"}, "input_schema": {"type": "object", "properties": {"data": {"description": "The JSON value to query: an object or array, not a string with JSON in it."}, "query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The JMESPath expression.", "examples": ["items[0].name", "items[?price > `10`].{name: name, price: price}", "sort_by(items, &price)[-1]", "length(items)"]}}, "required": ["data", "query"], "examples": [{"data": {"items": [{"name": "a", "price": 5}, {"name": "b", "price": 20}]}, "query": "items[?price > `10`]"}]}, "description": "Selects, filters, sorts and reshapes parts of a JSON value with a JMESPath query, and returns what it finds; null where nothing matches. Use it to get a few values out of a large JSON result without copying it by hand. Numbers in a query stand in backticks (`10`), strings in single quotes (''red''). It has no arithmetic.", "output_schema": {"type": "object", "properties": {"result": {"description": "What the query selects; null where nothing matches."}}, "required": ["result"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "JSON Query", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:47:54.346572','01a1ef8e-c778-74df-91bc-af123da1642a');
INSERT INTO "tool_versions" VALUES('01a1ef8ec83374db997c8aacd9215fe8','492cf430bf41555ebdbdf302bf383784',1,'{"name": "query_baseline", "tool_type": "internal", "config": {"handler": "query_baseline"}, "input_schema": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "query_type": {"type": "string", "enum": ["baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["finding_id", "composite_hash", "query_type"], "additionalProperties": false}, "description": "Whether a finding is known: new, recurring or resolved, since when and how often it was seen. Changes nothing.", "output_schema": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Query baseline", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:47:54.346572','01a1ef8e-c778-74df-91bc-af123da1642a');
INSERT INTO "tool_versions" VALUES('01a1ef8ec83375138a752883c5ee3294','3d387905ae305c2882a8c97f9e4aa8d1',1,'{"name": "batch_baseline_query", "tool_type": "internal", "config": {"handler": "batch_baseline_query"}, "input_schema": {"type": "object", "properties": {"finding_ids": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "maxItems": 10000, "description": "What you call the findings"}, "composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "Their hashes, one for each of finding_ids in the same order"}, "query_type": {"type": "string", "enum": ["batch_baseline_check", "baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the same answer"}, "batch_size": {"type": "integer", "minimum": 1, "maximum": 10000, "description": "How many are looked up in one statement; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["finding_ids", "composite_hashes", "query_type"], "additionalProperties": false}, "description": "Whether each of up to 10,000 findings is known, in the order asked. Changes nothing.", "output_schema": {"type": "object", "properties": {"results": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}}}, "required": ["results"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Query baseline for many", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": 33554432, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:47:54.346572','01a1ef8e-c778-74df-91bc-af123da1642a');
INSERT INTO "tool_versions" VALUES('01a1ef8ec833754aaf6e2a7b9f1c6ee6','86374af31257591dbc5f4666a9fd2d72',1,'{"name": "record_findings", "tool_type": "internal", "config": {"handler": "record_findings"}, "input_schema": {"type": "object", "properties": {"findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["finding_id", "composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "What was seen"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["findings"], "additionalProperties": false}, "description": "Keep that findings were seen, each time it is called once more; a resolved one that is seen again recurs.", "output_schema": {"type": "object", "properties": {"recorded": {"type": "integer", "minimum": 0}, "new": {"type": "integer", "minimum": 0}, "recurring": {"type": "integer", "minimum": 0}, "reopened": {"type": "integer", "minimum": 0}}, "required": ["recorded", "new", "recurring", "reopened"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Record findings", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:47:54.346572','01a1ef8e-c778-74df-91bc-af123da1642a');
INSERT INTO "tool_versions" VALUES('01a1ef8ec8337583b4375f616a133ebe','42944903dad95a33ae7df27da4aa4324',1,'{"name": "resolve_findings", "tool_type": "internal", "config": {"handler": "resolve_findings"}, "input_schema": {"type": "object", "properties": {"composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "The hashes of the findings"}, "findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "The findings"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": [], "additionalProperties": false}, "description": "Mark findings resolved, until they are seen again; give composite_hashes or findings.", "output_schema": {"type": "object", "properties": {"resolved": {"type": "integer", "minimum": 0}, "already_resolved": {"type": "integer", "minimum": 0}, "unknown": {"type": "integer", "minimum": 0}}, "required": ["resolved", "already_resolved", "unknown"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Resolve findings", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:47:54.346572','01a1ef8e-c778-74df-91bc-af123da1642a');
INSERT INTO "tool_versions" VALUES('01a1ef8eca49701eb563b46d1de71027','01a1ef8eca127599b035821e5b444d40',1,'{"name": "kept", "tool_type": "mock", "config": {"mock_response": {"sky": "clear"}}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden kept", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": true, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:47:54.898342','01a1ef8e-c778-74df-91bc-af123da1642a');
INSERT INTO "tool_versions" VALUES('01a1ef8ecacc78fda4cb75d7b129b14b','01a1ef8eca947433bb5c83f45702cd71',1,'{"name": "limited", "tool_type": "mock", "config": {"mock_response": 1}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden limited", "output_schema": null, "rate_limit": {"max_calls": 1, "period": "hour", "burst": null, "scope": "caller"}, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:47:55.028256','01a1ef8e-c778-74df-91bc-af123da1642a');
INSERT INTO "tool_versions" VALUES('01a1ef8ed25e7a95b5e1330d8f98d0d7','01a1ef8ed1b077f4aaf191d6d44d0c64',1,'{"name": "note", "tool_type": "table", "config": {"tableName": "notes", "fields": [{"name": "text", "dataType": "text"}]}, "input_schema": {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"text": {"type": ["string", "null"]}}, "required": [], "additionalProperties": false}, "description": "Golden note", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "reject", "result_style": "detailed", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:47:56.848487','01a1ef8e-c778-74df-91bc-af123da1642a');
INSERT INTO "tool_versions" VALUES('01a1ef8ed2bc7764856f7e22bb12aa56','01a1ef8ed2b472e28cb0527921ae49fd',1,'{"name": "print", "tool_type": "python", "config": {"code": "def show(text: str) -> str:\n    print(''printed'', text)\n    return text\n"}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden print", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:47:57.108174','01a1ef8e-c778-74df-91bc-af123da1642a');
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
INSERT INTO "tools" VALUES('4f56c6ab4df05007b19254f29c273c7e',1,'2026-11-18 16:47:54.346572','2026-11-18 16:47:54.346572',0,NULL,'01a1ef8ec77874df91bcaf123da1642a','math_eval','Evaluates one arithmetic expression and returns the number. Use it for any calculation beyond trivial mental arithmetic instead of working it out yourself. Operators: + - * / // (floor division) % (modulo, not percent) ^ or ** (power) and ! (factorial). Constants: pi, e, tau. Functions: sqrt, cbrt, abs, round, floor, ceil, trunc, sign, exp, log, ln, log2, log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, min, max, sum, mean, pow, mod, gcd, lcm, factorial, hypot, degrees, radians. Angles are in radians; log is natural unless written log(x, base). There are no variables, comparisons, lists or units, and numbers are written without thousands separators.','builtin','{"operation": "math_eval"}','{"type": "object", "properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "The expression to evaluate.", "examples": ["2+2", "(1 + 0.05)^10 * 1000", "sqrt(3^2 + 4^2)", "sin(radians(30))"]}}, "required": ["expression"], "examples": [{"expression": "(1 + 0.05)^10 * 1000"}]}','{"type": "object", "properties": {"result": {"type": "number", "description": "The value; whole numbers beyond 64 bits are rounded to a floating-point number."}}, "required": ["result"]}',NULL,NULL,1,1,1,'Calculator','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('6b6d2eda2c7950659ce66502d73cc282',1,'2026-11-18 16:47:54.346572','2026-11-18 16:47:54.346572',0,NULL,'01a1ef8ec77874df91bcaf123da1642a','echo','Returns exactly the arguments it was called with, under `echo`. Use it to check that tool calls work and how your arguments arrive; it does nothing else.','builtin','{"operation": "echo"}','{"type": "object", "additionalProperties": true, "examples": [{"message": "hello"}]}','{"type": "object", "properties": {"echo": {"type": "object", "description": "The arguments of the call."}}, "required": ["echo"]}',NULL,NULL,1,1,1,'Echo','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('85f568ed8cd35e11a508d3927f353e28',1,'2026-11-18 16:47:54.346572','2026-11-18 16:47:54.346572',0,NULL,'01a1ef8ec77874df91bcaf123da1642a','calculate_rsi','Calculates the relative strength index (RSI) of a series of prices, with Wilder''s smoothing, and says whether the last value is overbought or oversold. Give the closing prices oldest first, at least period + 1 of them; around 100 or more make the smoothing settle. It fetches no prices: you must have them already.','builtin','{"operation": "calculate_rsi"}','{"type": "object", "properties": {"prices": {"type": "array", "items": {"type": "number", "minimum": -1e+300, "maximum": 1e+300}, "minItems": 2, "maxItems": 100000, "description": "Closing prices, oldest first; at least period + 1.", "examples": [[44.34, 44.09, 44.15, 43.61, 44.33]]}, "period": {"type": "integer", "minimum": 1, "maximum": 99999, "default": 14, "description": "How many price changes are averaged; 14 is usual."}, "overbought": {"type": "number", "minimum": 0, "maximum": 100, "default": 70, "description": "The RSI from which on the answer''s `overbought` is true."}, "oversold": {"type": "number", "minimum": 0, "maximum": 100, "default": 30, "description": "The RSI down from which the answer''s `oversold` is true."}, "include_series": {"type": "boolean", "default": true, "description": "false leaves `series` out of the answer: shorter when only the last value matters."}}, "required": ["prices"], "examples": [{"prices": [44.34, 44.09, 44.15, 43.61, 44.33], "period": 3}]}','{"type": "object", "properties": {"rsi": {"type": "number", "minimum": 0, "maximum": 100, "description": "The RSI at the last price."}, "overbought": {"type": "boolean", "description": "Whether `rsi` is at or above the threshold."}, "oversold": {"type": "boolean", "description": "Whether `rsi` is at or below the threshold."}, "period": {"type": "integer", "description": "The period that was used."}, "series": {"type": "array", "items": {"type": ["number", "null"]}, "description": "The RSI at every price, as many as `prices`; null for the first `period` of them."}}, "required": ["rsi", "overbought", "oversold", "period"]}',NULL,NULL,1,1,1,'Calculate RSI','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('41a86778e8bd54c69de12c75630f7f9e',1,'2026-11-18 16:47:54.346572','2026-11-18 16:47:54.346572',0,NULL,'01a1ef8ec77874df91bcaf123da1642a','current_time','Returns the current date, time and weekday, in UTC or in the time zone you name. Call it whenever an answer depends on what day or time it is now; you cannot know that otherwise.','builtin','{"operation": "current_time"}','{"type": "object", "properties": {"timezone": {"type": "string", "maxLength": 64, "default": "UTC", "description": "An IANA time zone name.", "examples": ["UTC", "Europe/Berlin", "America/New_York"]}}, "examples": [{}, {"timezone": "Europe/Berlin"}]}','{"type": "object", "properties": {"iso": {"type": "string", "format": "date-time", "description": "ISO 8601, with the zone''s offset."}, "unix": {"type": "integer", "description": "Seconds since 1970-01-01T00:00:00Z."}, "timezone": {"type": "string", "description": "The time zone of `iso`, `date`, `time` and `weekday`."}, "abbreviation": {"type": ["string", "null"], "description": "What the zone is called now, such as CEST."}, "date": {"type": "string", "format": "date"}, "time": {"type": "string", "description": "HH:MM:SS, on a 24-hour clock."}, "weekday": {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]}}, "required": ["iso", "unix", "timezone", "date", "time", "weekday"]}',NULL,NULL,1,1,1,'Current Time','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('9e60bc7b2e6952c6bbf20b00e3006074',1,'2026-11-18 16:47:54.346572','2026-11-18 16:47:54.346572',0,NULL,'01a1ef8ec77874df91bcaf123da1642a','json_query','Selects, filters, sorts and reshapes parts of a JSON value with a JMESPath query, and returns what it finds; null where nothing matches. Use it to get a few values out of a large JSON result without copying it by hand. Numbers in a query stand in backticks (`10`), strings in single quotes (''red''). It has no arithmetic.','builtin','{"operation": "json_query"}','{"type": "object", "properties": {"data": {"description": "The JSON value to query: an object or array, not a string with JSON in it."}, "query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The JMESPath expression.", "examples": ["items[0].name", "items[?price > `10`].{name: name, price: price}", "sort_by(items, &price)[-1]", "length(items)"]}}, "required": ["data", "query"], "examples": [{"data": {"items": [{"name": "a", "price": 5}, {"name": "b", "price": 20}]}, "query": "items[?price > `10`]"}]}','{"type": "object", "properties": {"result": {"description": "What the query selects; null where nothing matches."}}, "required": ["result"]}',NULL,NULL,1,1,1,'JSON Query','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('492cf430bf41555ebdbdf302bf383784',1,'2026-11-18 16:47:54.346572','2026-11-18 16:47:54.346572',0,NULL,'01a1ef8ec77874df91bcaf123da1642a','query_baseline','Whether a finding is known: new, recurring or resolved, since when and how often it was seen. Changes nothing.','internal','{"handler": "query_baseline"}','{"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "query_type": {"type": "string", "enum": ["baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["finding_id", "composite_hash", "query_type"], "additionalProperties": false}','{"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}',NULL,NULL,1,1,1,'Query baseline','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('3d387905ae305c2882a8c97f9e4aa8d1',1,'2026-11-18 16:47:54.346572','2026-11-18 16:47:54.346572',0,NULL,'01a1ef8ec77874df91bcaf123da1642a','batch_baseline_query','Whether each of up to 10,000 findings is known, in the order asked. Changes nothing.','internal','{"handler": "batch_baseline_query"}','{"type": "object", "properties": {"finding_ids": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "maxItems": 10000, "description": "What you call the findings"}, "composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "Their hashes, one for each of finding_ids in the same order"}, "query_type": {"type": "string", "enum": ["batch_baseline_check", "baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the same answer"}, "batch_size": {"type": "integer", "minimum": 1, "maximum": 10000, "description": "How many are looked up in one statement; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["finding_ids", "composite_hashes", "query_type"], "additionalProperties": false}','{"type": "object", "properties": {"results": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}}}, "required": ["results"], "additionalProperties": false}',NULL,NULL,1,1,1,'Query baseline for many','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,1,0,0,33554432,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('86374af31257591dbc5f4666a9fd2d72',1,'2026-11-18 16:47:54.346572','2026-11-18 16:47:54.346572',0,NULL,'01a1ef8ec77874df91bcaf123da1642a','record_findings','Keep that findings were seen, each time it is called once more; a resolved one that is seen again recurs.','internal','{"handler": "record_findings"}','{"type": "object", "properties": {"findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["finding_id", "composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "What was seen"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["findings"], "additionalProperties": false}','{"type": "object", "properties": {"recorded": {"type": "integer", "minimum": 0}, "new": {"type": "integer", "minimum": 0}, "recurring": {"type": "integer", "minimum": 0}, "reopened": {"type": "integer", "minimum": 0}}, "required": ["recorded", "new", "recurring", "reopened"], "additionalProperties": false}',NULL,NULL,1,1,1,'Record findings','["baseline"]',NULL,'ignore','envelope',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('42944903dad95a33ae7df27da4aa4324',1,'2026-11-18 16:47:54.346572','2026-11-18 16:47:54.346572',0,NULL,'01a1ef8ec77874df91bcaf123da1642a','resolve_findings','Mark findings resolved, until they are seen again; give composite_hashes or findings.','internal','{"handler": "resolve_findings"}','{"type": "object", "properties": {"composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "The hashes of the findings"}, "findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "The findings"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": [], "additionalProperties": false}','{"type": "object", "properties": {"resolved": {"type": "integer", "minimum": 0}, "already_resolved": {"type": "integer", "minimum": 0}, "unknown": {"type": "integer", "minimum": 0}}, "required": ["resolved", "already_resolved", "unknown"], "additionalProperties": false}',NULL,NULL,1,1,1,'Resolve findings','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,0,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('01a1ef8eca127599b035821e5b444d40',2,'2026-11-18 16:47:54.898342','2026-11-18 16:47:54.898342',0,NULL,'01a1ef8ec77874df91bcaf123da1642a','kept','Golden kept','mock','{"mock_response": {"sky": "clear"}}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,1,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('01a1ef8eca947433bb5c83f45702cd71',3,'2026-11-18 16:47:55.028256','2026-11-18 16:47:55.028256',0,NULL,'01a1ef8ec77874df91bcaf123da1642a','limited','Golden limited','mock','{"mock_response": 1}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,'{"max_calls": 1, "period": "hour", "burst": null, "scope": "caller"}',1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('01a1ef8ed1b077f4aaf191d6d44d0c64',8,'2026-11-18 16:47:56.848487','2026-11-18 16:47:56.848487',0,NULL,'01a1ef8ec77874df91bcaf123da1642a','note','Golden note','table','{"tableName": "notes", "fields": [{"name": "text", "dataType": "text"}]}','{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"text": {"type": ["string", "null"]}}, "required": [], "additionalProperties": false}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'reject','detailed',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('01a1ef8ed2b472e28cb0527921ae49fd',9,'2026-11-18 16:47:57.108174','2026-11-18 16:47:57.108174',0,NULL,'01a1ef8ec77874df91bcaf123da1642a','print','Golden print','python','{"code": "def show(text: str) -> str:\n    print(''printed'', text)\n    return text\n"}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel',NULL);
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
INSERT INTO "users" VALUES('01a1ef8ec77874df91bcaf123da1642a',1,'2026-11-18 16:47:54.232296','2026-11-18 16:47:54.232296',0,NULL,'admin','admin','cc78ec4fea070727b8a9f1a7925ea616e3bd593362f4ba3bece0aaec8d5ca850');
INSERT INTO "users" VALUES('01a1ef8ece5a717a98b4b47a175f859f',4,'2026-11-18 16:47:55.994083','2026-11-18 16:47:55.994083',0,NULL,'ada','member','ba45ebca6aa081d3c22ce4507b3f1e8eef38cc3507d1a42d2cf56f4beb96d73a');
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
INSERT INTO "writers" VALUES(1,'01a1ef8ec8837d3faf3f363fb5bd03a8','vm',24014,'2026-11-18 16:47:54.665003','2026-11-18 16:48:20.605733',35,24,'4253aede63b0ae8873a3116308ab117b','976f041f6acb138693d293c8724fe734',3,'26e73e3f9c774ae251981b7b9021ccd5','bfc72cfd7701adab5cd91cc5b975e160',24);
INSERT INTO "writers" VALUES(2,'01a1ef8f2bda7c939635a1256cb35452','vm',24262,'2026-11-18 16:48:20.076668','2026-11-18 16:48:20.306442',1,0,'','a5563bc6d6029635aa8d0cf31e985444',0,'','',0);
INSERT INTO "writers" VALUES(3,'01a1ef8f2d0a7eda9476ba05b0eddc07','vm',24014,'2026-11-18 16:48:20.306876','2026-11-18 16:48:20.526347',2,1,'f1d8653818aaafb1f834373c0ce0f223','b70fe644dd51e92e42e589d53bccdee1',0,'','',1);
INSERT INTO "writers" VALUES(4,'01a1ef8f787f7167a81ca328a9a1a807','vm',24613,'2026-11-18 16:48:40.290335','2026-11-18 16:48:40.325198',2,1,'c319763b757323b859f470e3b7089d06','4550a0690a2909f541f7837d93b07dac',0,'','',1);
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
