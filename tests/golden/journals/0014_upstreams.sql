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
INSERT INTO "agents" VALUES('01a1f59893f579eeb7daa16b51a5c55d',6,'2026-11-19 20:56:19.701618','2026-11-19 20:56:19.701618',0,NULL,'01a1f59893e17c31bab4c66c1711a75e','helper',NULL,'[]');
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0014_upstreams');
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
INSERT INTO "api_keys" VALUES('01a1f598920779559db7ad4d53590fed',1,'2026-11-19 20:56:19.202073','01a1f59891ef7370985cd5b5ece20cea','PEGBOARD_ADMIN_KEY','','fba017195994b5e94a1925f08264ffead951611dd77d4a376d4c53aaa66fd8c0',NULL,NULL,NULL,'d6b800e8e8818656c6326a8734abf22bb78b4ca244ce6d32ae7eae4ad3abb698',NULL);
INSERT INTO "api_keys" VALUES('01a1f59893ed7b87bc8c917ea8e84bc1',5,'2026-11-19 20:56:19.693716','01a1f59893e17c31bab4c66c1711a75e','laptop','pb_6_bbp','2865673556f41632af7776d61a5d03751ada7d4815a8c9f7577289e76cc2c7cb',NULL,NULL,NULL,'92df4ce689ae75c23a29892825a9f5046379d799a84d48bb08d16921c5f984bd','01a1f59891ef7370985cd5b5ece20cea');
INSERT INTO "api_keys" VALUES('01a1f59893ff75c8aaacddd1e0ba838c',7,'2026-11-19 20:56:19.711356','01a1f59893e17c31bab4c66c1711a75e','robot','pb_DF1P9','ad5a194f44a9284794e1b5adc98104f44e793a21107a7454c45bdc78ce77dbaf','01a1f59893f579eeb7daa16b51a5c55d',NULL,NULL,'57633c1d1a63aa5219221b26b7bce18dbc026a960e2d4c83ddc381201dbef240','01a1f59891ef7370985cd5b5ece20cea');
CREATE TABLE board_state (
	id INTEGER NOT NULL, 
	revision BIGINT NOT NULL, writers INTEGER DEFAULT '0' NOT NULL, writers_signature VARCHAR(32) DEFAULT '' NOT NULL, 
	CONSTRAINT pk_board_state PRIMARY KEY (id), 
	CONSTRAINT ck_board_state_single CHECK (id = 1)
);
INSERT INTO "board_state" VALUES(1,12,5,'f98596f0c345e3d091b8735e03567913');
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
INSERT INTO "execution_counts" VALUES(498644,'','','refused','tool_not_found',85,1);
INSERT INTO "execution_counts" VALUES(498644,'','','refused','tool_not_found',90,1);
INSERT INTO "execution_counts" VALUES(498644,'','dies','in_doubt','in_doubt',97,1);
INSERT INTO "execution_counts" VALUES(498644,'','echo','succeeded','',69,1);
INSERT INTO "execution_counts" VALUES(498644,'','echo','succeeded','',72,1);
INSERT INTO "execution_counts" VALUES(498644,'','echo','succeeded','',73,1);
INSERT INTO "execution_counts" VALUES(498644,'','echo','succeeded','',80,1);
INSERT INTO "execution_counts" VALUES(498644,'','echo','succeeded','',83,1);
INSERT INTO "execution_counts" VALUES(498644,'','echo','succeeded','',86,1);
INSERT INTO "execution_counts" VALUES(498644,'','echo','succeeded','',87,1);
INSERT INTO "execution_counts" VALUES(498644,'','echo','succeeded','',107,1);
INSERT INTO "execution_counts" VALUES(498644,'','echo','succeeded','',153,1);
INSERT INTO "execution_counts" VALUES(498644,'','fails','failed','execution_failed',148,1);
INSERT INTO "execution_counts" VALUES(498644,'','kept','refused','missing',92,1);
INSERT INTO "execution_counts" VALUES(498644,'','kept','succeeded','',100,1);
INSERT INTO "execution_counts" VALUES(498644,'','limited','refused','rate_limited',66,1);
INSERT INTO "execution_counts" VALUES(498644,'','limited','succeeded','',96,1);
INSERT INTO "execution_counts" VALUES(498644,'','math_eval','failed','execution_failed',100,1);
INSERT INTO "execution_counts" VALUES(498644,'','math_eval','succeeded','',95,1);
INSERT INTO "execution_counts" VALUES(498644,'','note','succeeded','',163,1);
INSERT INTO "execution_counts" VALUES(498644,'','once','refused','idempotency_conflict',144,1);
INSERT INTO "execution_counts" VALUES(498644,'','once','succeeded','',122,2);
INSERT INTO "execution_counts" VALUES(498644,'','print','succeeded','',222,1);
INSERT INTO "execution_counts" VALUES(498644,'','replaced','succeeded','',148,1);
INSERT INTO "execution_counts" VALUES(498644,'','tried','failed','contract_violation',156,1);
INSERT INTO "execution_counts" VALUES(498644,'01a1f598-91ef-7370-985c-d5b5ece20cea','','refused','tool_not_found',90,1);
INSERT INTO "execution_counts" VALUES(498644,'01a1f598-91ef-7370-985c-d5b5ece20cea','dies','in_doubt','in_doubt',97,1);
INSERT INTO "execution_counts" VALUES(498644,'01a1f598-91ef-7370-985c-d5b5ece20cea','echo','succeeded','',69,1);
INSERT INTO "execution_counts" VALUES(498644,'01a1f598-91ef-7370-985c-d5b5ece20cea','echo','succeeded','',73,1);
INSERT INTO "execution_counts" VALUES(498644,'01a1f598-91ef-7370-985c-d5b5ece20cea','echo','succeeded','',83,1);
INSERT INTO "execution_counts" VALUES(498644,'01a1f598-91ef-7370-985c-d5b5ece20cea','echo','succeeded','',86,1);
INSERT INTO "execution_counts" VALUES(498644,'01a1f598-91ef-7370-985c-d5b5ece20cea','echo','succeeded','',87,1);
INSERT INTO "execution_counts" VALUES(498644,'01a1f598-91ef-7370-985c-d5b5ece20cea','echo','succeeded','',107,1);
INSERT INTO "execution_counts" VALUES(498644,'01a1f598-91ef-7370-985c-d5b5ece20cea','echo','succeeded','',153,1);
INSERT INTO "execution_counts" VALUES(498644,'01a1f598-91ef-7370-985c-d5b5ece20cea','fails','failed','execution_failed',148,1);
INSERT INTO "execution_counts" VALUES(498644,'01a1f598-91ef-7370-985c-d5b5ece20cea','kept','refused','missing',92,1);
INSERT INTO "execution_counts" VALUES(498644,'01a1f598-91ef-7370-985c-d5b5ece20cea','kept','succeeded','',100,1);
INSERT INTO "execution_counts" VALUES(498644,'01a1f598-91ef-7370-985c-d5b5ece20cea','limited','refused','rate_limited',66,1);
INSERT INTO "execution_counts" VALUES(498644,'01a1f598-91ef-7370-985c-d5b5ece20cea','limited','succeeded','',96,1);
INSERT INTO "execution_counts" VALUES(498644,'01a1f598-91ef-7370-985c-d5b5ece20cea','math_eval','failed','execution_failed',100,1);
INSERT INTO "execution_counts" VALUES(498644,'01a1f598-91ef-7370-985c-d5b5ece20cea','math_eval','succeeded','',95,1);
INSERT INTO "execution_counts" VALUES(498644,'01a1f598-91ef-7370-985c-d5b5ece20cea','note','succeeded','',163,1);
INSERT INTO "execution_counts" VALUES(498644,'01a1f598-91ef-7370-985c-d5b5ece20cea','once','refused','idempotency_conflict',144,1);
INSERT INTO "execution_counts" VALUES(498644,'01a1f598-91ef-7370-985c-d5b5ece20cea','once','succeeded','',122,2);
INSERT INTO "execution_counts" VALUES(498644,'01a1f598-91ef-7370-985c-d5b5ece20cea','print','succeeded','',222,1);
INSERT INTO "execution_counts" VALUES(498644,'01a1f598-91ef-7370-985c-d5b5ece20cea','replaced','succeeded','',148,1);
INSERT INTO "execution_counts" VALUES(498644,'01a1f598-91ef-7370-985c-d5b5ece20cea','tried','failed','contract_violation',156,1);
INSERT INTO "execution_counts" VALUES(498644,'01a1f598-93e1-7c31-bab4-c66c1711a75e','','refused','tool_not_found',85,1);
INSERT INTO "execution_counts" VALUES(498644,'01a1f598-93e1-7c31-bab4-c66c1711a75e','echo','succeeded','',72,1);
INSERT INTO "execution_counts" VALUES(498644,'01a1f598-93e1-7c31-bab4-c66c1711a75e','echo','succeeded','',80,1);
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
INSERT INTO "executions" VALUES('01a1f59892de748fb0cbbc8d63387868','echo','succeeded','2026-11-19 20:56:19.422282','2026-11-19 20:56:19.422487',0.171,'01a1f598-91ef-7370-985c-d5b5ece20cea','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1f598-92de-748f-b0cb-bc8d63387868',NULL,NULL,'019c101fce62acc26d98c7c97abc3e61',NULL,NULL,NULL,NULL,NULL,NULL,1,4,'625ab2974c214b04cb21885e5c31f2bd',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f59892df7623a62a94edf4be1bb6','kept','succeeded','2026-11-19 20:56:19.423381','2026-11-19 20:56:19.423780',0.382,'01a1f598-91ef-7370-985c-d5b5ece20cea','admin','library','plain',1,'01a1f598-92cd-7990-bf12-279b4e5f7d75',1,'mock',NULL,NULL,'01a1f598-92df-7623-a62a-94edf4be1bb6',NULL,NULL,'8402850991a5708b91d4165b7b960e11','{"text":"a ☃ and a 😀, \"quoted\", \\ and a\nline","number":-1.5e+300}',NULL,NULL,NULL,NULL,NULL,1,5,'4cd1f6daa82a69e2d6bf4c05af96e5cd',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f59892e075548971296b17ecf855','fails','failed','2026-11-19 20:56:19.424331','2026-11-19 20:56:19.431345',6.993,'01a1f598-91ef-7370-985c-d5b5ece20cea','admin','library','plain',1,'292d6f6c-a238-532d-ba7c-02469f556f4e',1,'internal',NULL,NULL,'01a1f598-92e0-7554-8971-296b17ecf855','execution_failed','cannot do a ☃ and a 😀, "quoted", \ and a
line','019c101fce62acc26d98c7c97abc3e61',NULL,NULL,NULL,NULL,NULL,NULL,1,6,'5cb2ce261b414d323dce4419968d4a78',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f59892e8749fb0832904b65058e3','math_eval','failed','2026-11-19 20:56:19.432286','2026-11-19 20:56:19.432697',0.395,'01a1f598-91ef-7370-985c-d5b5ece20cea','admin','library','plain',1,'4f56c6ab-4df0-5007-b192-54f29c273c7e',1,'builtin',NULL,NULL,'01a1f598-92e8-749f-b083-2904b65058e3','execution_failed','Division by zero at position 2; change the divisor','292879c56cd4137acf63240a28de1771',NULL,NULL,NULL,NULL,NULL,NULL,1,7,'c20bdf0f73c925ed12a0f631d4b6ec64',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f59892e974259ff9e001e954ae32','kept','refused','2026-11-19 20:56:19.433257','2026-11-19 20:56:19.433521',0.248,'01a1f598-91ef-7370-985c-d5b5ece20cea','admin','library','plain',0,'01a1f598-92cd-7990-bf12-279b4e5f7d75',1,'mock',NULL,NULL,'01a1f598-92e9-7425-9ff9-e001e954ae32','missing','Invalid parameters: missing ''text''',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,8,'f1c0446195e044620cd9f0b1d34e3ede',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f59892ea733691620319f8dd2fd8','no_such_tool','refused','2026-11-19 20:56:19.434198','2026-11-19 20:56:19.434431',0.213,'01a1f598-91ef-7370-985c-d5b5ece20cea','admin','library','plain',0,NULL,NULL,NULL,NULL,NULL,'01a1f598-92ea-7336-9162-0319f8dd2fd8','tool_not_found','Tool ''no_such_tool'' not found',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,9,'0903becc9c8e5f1a51d62db342867932',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f59892ea7ee793ef24636dc3af1f','limited','succeeded','2026-11-19 20:56:19.434929','2026-11-19 20:56:19.435240',0.3,'01a1f598-91ef-7370-985c-d5b5ece20cea','admin','library','plain',1,'01a1f598-92d6-72bb-ba62-3b24e9621035',1,'mock',NULL,NULL,'01a1f598-92ea-7ee7-93ef-24636dc3af1f',NULL,NULL,'0996ea6b19e49c29908e13bc3034e2f3',NULL,NULL,NULL,NULL,NULL,NULL,1,10,'40b20ad883759139f8fd0042ca614c57',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f59892eb7b8e8f857027165d0483','limited','refused','2026-11-19 20:56:19.435720','2026-11-19 20:56:19.435782',0.051,'01a1f598-91ef-7370-985c-d5b5ece20cea','admin','library','plain',0,'01a1f598-92d6-72bb-ba62-3b24e9621035',1,'mock',NULL,NULL,'01a1f598-92eb-7b8e-8f85-7027165d0483','rate_limited','Rate limit of ''limited'' reached: 1 call per hour; try again in 3600 s','5e1e4a263352303b4353300365f15dea',NULL,NULL,NULL,NULL,NULL,NULL,1,11,'fe57f5a56267904490b1ab5fc79175cb',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f59894057b8f81f16f766c81a9e9','echo','succeeded','2026-11-19 20:56:19.717719','2026-11-19 20:56:19.717864',0.119,'01a1f598-93e1-7c31-bab4-c66c1711a75e','ada','rest','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin','01a1f598-93ed-7b87-bc8c-917ea8e84bc1',NULL,'request-1',NULL,NULL,'f013b2719930c1c9ec845aa1866d1c25',NULL,NULL,NULL,NULL,NULL,NULL,1,12,'80e9990d5bd2eb1c67b17f77a4f9d4a2',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f59894077222a7294ac44e03627b','echo','refused','2026-11-19 20:56:19.719093','2026-11-19 20:56:19.719274',0.161,'01a1f598-93e1-7c31-bab4-c66c1711a75e','ada','rest','plain',0,NULL,NULL,NULL,'01a1f598-93ff-75c8-aaac-ddd1e0ba838c','01a1f598-93f5-79ee-b7da-a16b51a5c55d','01a1f598-9407-7222-a729-4ac44e03627b','tool_not_found','Tool ''echo'' not found',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,13,'90992f56f81fa6d1c1f74eaa92da6589',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f59894097279b5cffd5154ce4cf4','echo','succeeded','2026-11-19 20:56:19.721152','2026-11-19 20:56:19.721240',0.073,'01a1f598-93e1-7c31-bab4-c66c1711a75e','ada','rest','openai_chat',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin','01a1f598-93ed-7b87-bc8c-917ea8e84bc1',NULL,'01a1f598-9408-7e72-8966-f085ab842877',NULL,NULL,'b2d29d18b6c95b01e3b3ff28db5da5cc',NULL,NULL,NULL,NULL,NULL,NULL,1,14,'e648ea4d9af1f888af9e6c0003e4fc5f',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f598940c7035a2448fcfdeefbe84','once','succeeded','2026-11-19 20:56:19.724011','2026-11-19 20:56:19.725528',1.502,'01a1f598-91ef-7370-985c-d5b5ece20cea','admin','library','plain',1,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1f598-940c-7035-a244-8fcfdeefbe84',NULL,NULL,'eb5365087c974c22ee68d996ba2db36f',NULL,NULL,NULL,NULL,NULL,'"A"',1,15,'62ff94ff3fee03d3b4407c5af8cb8576',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f598940e75218f8540cde9213279','once','succeeded','2026-11-19 20:56:19.726319','2026-11-19 20:56:19.726984',1.502,'01a1f598-91ef-7370-985c-d5b5ece20cea','admin','library','plain',0,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1f598-940e-7521-8f85-40cde9213279',NULL,NULL,'eb5365087c974c22ee68d996ba2db36f',NULL,NULL,NULL,NULL,'01a1f598-940c-7035-a244-8fcfdeefbe84','"A"',1,16,'1b2476ee38643be36dca6b3a96d54ce0',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f598940f78c19e8ef565cd566d22','once','refused','2026-11-19 20:56:19.727545','2026-11-19 20:56:19.733026',5.463,'01a1f598-91ef-7370-985c-d5b5ece20cea','admin','library','plain',0,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1f598-940f-78c1-9e8e-f565cd566d22','idempotency_conflict','This idempotency key was used for ''once'' with other arguments; send the same arguments again, or a new key for a new call','aa44dea1250b99b3d45bb1fbf384294a',NULL,NULL,NULL,NULL,NULL,NULL,1,17,'a2c41efc4da03edf15987aad5013085a',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f59894207c5e9f9e9e3742416e73','tried','failed','2026-11-19 20:56:19.744770','2026-11-19 20:56:19.756414',11.619,'01a1f598-91ef-7370-985c-d5b5ece20cea','admin','library','plain',2,'47fe7a73-0ae4-5d70-aa28-58a231407683',1,'internal',NULL,NULL,'01a1f598-9420-7c5e-9f9e-9e3742416e73','contract_violation','The tool''s output breaks its output schema: The output must be an integer','57db45f4cfefd5bad59d5a64a0d85cae',NULL,NULL,NULL,NULL,NULL,NULL,1,18,'5cbe7290856a64c694b6bae01a4f68ef',NULL,'[{"attempt":1,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":0.624},{"attempt":2,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":0.199}]');
INSERT INTO "executions" VALUES('01a1f598942d730a9ba94a71c7f15f0b','replaced','succeeded','2026-11-19 20:56:19.757187','2026-11-19 20:56:19.764285',6.999,'01a1f598-91ef-7370-985c-d5b5ece20cea','admin','library','plain',2,'0b58c42c-a575-56ea-8e61-45f3fdeaeca4',1,'internal',NULL,NULL,'01a1f598-942d-730a-9ba9-4a71c7f15f0b',NULL,NULL,'57db45f4cfefd5bad59d5a64a0d85cae',NULL,NULL,NULL,NULL,NULL,NULL,1,19,'83619894fd0676f156e471ea5c1124cc',NULL,'[{"attempt":1,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":0.436},{"attempt":2,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":0.201}]');
INSERT INTO "executions" VALUES('01a1f598946b77cdb669b53204aba356','note','succeeded','2026-11-19 20:56:19.819483','2026-11-19 20:56:19.836448',16.944,'01a1f598-91ef-7370-985c-d5b5ece20cea','admin','library','plain',1,'01a1f598-9447-70d8-a3d0-76e2594ea14a',1,'table',NULL,NULL,'01a1f598-946b-77cd-b669-b53204aba356',NULL,NULL,'b96b3550adac473aca184a41381381e4',NULL,'1',NULL,NULL,NULL,NULL,2,1,'b286b51bc272fa92c7cb1bc17e1d8893',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f598948776ee8620264876bae8d4','print','succeeded','2026-11-19 20:56:19.847429','2026-11-19 20:56:20.455459',607.991,'01a1f598-91ef-7370-985c-d5b5ece20cea','admin','library','plain',1,'01a1f598-9458-759f-bf05-0fc16bdeb955',1,'python',NULL,NULL,'01a1f598-9487-76ee-8620-264876bae8d4',NULL,NULL,'4b94158869b9a150d0c3d471a545443a',NULL,NULL,NULL,NULL,NULL,NULL,1,20,'c61bf413397dc9224f635ecde3ff74fd','printed text
',NULL);
INSERT INTO "executions" VALUES('01a1f59896e970c2bf338529c116f33b','math_eval','succeeded','2026-11-19 20:56:20.457067','2026-11-19 20:56:20.457366',0.285,'01a1f598-91ef-7370-985c-d5b5ece20cea','admin','library','plain',1,'4f56c6ab-4df0-5007-b192-54f29c273c7e',1,'builtin',NULL,NULL,'01a1f598-96e9-70c2-bf33-8529c116f33b',NULL,NULL,'f9ab981712fa5d8448bcea299014b1ad',NULL,NULL,'01a1f598-96e8-7dc7-bd96-0c6a53c46b73',NULL,NULL,NULL,1,21,'8b6ffd2e728aafd26a873983947f9d93',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f59896ef75e7ae33314c121094f3','echo','succeeded','2026-11-19 20:56:20.463389','2026-11-19 20:56:20.463459',0.061,'01a1f598-91ef-7370-985c-d5b5ece20cea','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1f598-96ef-75e7-ae33-314c121094f3',NULL,NULL,'db75464c48953f0418a34f0ad4092aec',NULL,NULL,'01a1f598-96e8-7dc7-bd96-0c6a53c46b73',NULL,NULL,NULL,1,22,'78c26b0913ea0db7c7e18691fd643400',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f59896fa73bd8fb9cd94f24bd26d','echo','succeeded','2026-11-19 20:56:20.474231','2026-11-19 20:56:20.474322',0.076,'01a1f598-91ef-7370-985c-d5b5ece20cea','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1f598-96fa-73bd-8fb9-cd94f24bd26d',NULL,NULL,'1504081c000e9e11d71d7b736e649561',NULL,NULL,NULL,'01a1f598-96f3-75f9-85ea-ecbff22cf813',NULL,NULL,1,23,'e34717368e22c2c15f99a5e516f94148',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f598ab9e738a9fec7897406bdf49','dies','in_doubt','2026-11-19 20:56:25.758217','2026-11-19 20:56:25.825147',0.324,'01a1f598-91ef-7370-985c-d5b5ece20cea','admin','library','plain',1,'301f3051-930d-5d5d-ae86-e078a5b82b33',1,'internal',NULL,NULL,'01a1f598-ab9e-738a-9fec-7897406bdf49','in_doubt','The server ended while this call was running; whether it took effect is not known','57db45f4cfefd5bad59d5a64a0d85cae',NULL,NULL,NULL,NULL,NULL,NULL,4,1,'858258487e9422b983d6520baa5dd98c',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f598bdfa709faf0f8331099f0c41','echo','succeeded','2026-11-19 20:56:30.458032','2026-11-19 20:56:30.458665',0.601,'01a1f598-91ef-7370-985c-d5b5ece20cea','admin','cli','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1f598-bdfa-709f-af0f-8331099f0c41',NULL,NULL,'b7cf39f660dbfd70f4b2552bf823546e',NULL,NULL,NULL,NULL,NULL,NULL,5,1,'c4262f15116453d25fb9233393c30ebc',NULL,NULL);
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
INSERT INTO "intents" VALUES('01a1f598940c7035a2448fcfdeefbe84',1,'done','',0,'e202461988844c3586f27dfa0b9fa741feb5c98d6fce4d00220c3ea13111b696','eb5365087c974c22ee68d996ba2db36f','pb1:b3457b1d:n01vwkj5oJqgJC8bGKUm8bpOGTDTRz0cNBB6IYo2qPo1o1TFDCGxN8OHvU9mpCmvU6OlM5JcQsm9N8AZUU26SFao27z1LwqY3u0eZ04BHBrJIedMGJn_OJie4UEVr2A3dBDiEorNwX-tn57cOnaZVaBka5Ndt32ezkX5iTMS1gatc0opFu0q','2026-11-20 20:56:19.724266','fd2c6950a905766d5bd5573cf632d4fc','8783238af045be82ed83f248eb804955',NULL);
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
INSERT INTO "messages" VALUES('01a1f59896f375f985eaecbff22cf813',0,'01a1f59896fc7934a9f8bfd973c59fa6','assistant',NULL,'2026-11-19 20:56:20.475000','[{"id":"call_01a1f59896fa73bd8fb9cd94f24bd26d","name":"echo","arguments":{"text":"thread"},"result":{"echo":{"text":"thread"}},"duration_ms":0.076,"attempts":1,"run_id":"01a1f598-96fa-73bd-8fb9-cd94f24bd26d","result_valid":true}]','plain',NULL);
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
INSERT INTO "secrets" VALUES('01a1f59891f5700ebbfc9e749c933f81',1,'2026-11-19 20:56:19.189000','2026-11-19 20:56:19.189000','01a1f59891ef7370985cd5b5ece20cea','$root','pb1:b3457b1d:4Iw7nj5-AcjyNTOYGT-Qhx5DOsPbfF3PDAvO3jX70vzUzSHOBSPjof603JcOsqeRtUUv8KmRMKsaz16k6wLNl0UIcExcDllCESTsoe2otA');
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
INSERT INTO "threads" VALUES('01a1f59896f375f985eaecbff22cf813','01a1f59891ef7370985cd5b5ece20cea','golden',1,'2026-11-19 20:56:20.467370','2026-11-19 20:56:20.475157',NULL);
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
INSERT INTO "tool_versions" VALUES('01a1f59892197402941f8d232a639c69','4f56c6ab4df05007b19254f29c273c7e',1,'{"name": "math_eval", "tool_type": "builtin", "config": {"operation": "math_eval"}, "input_schema": {"type": "object", "properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "The expression to evaluate.", "examples": ["2+2", "(1 + 0.05)^10 * 1000", "sqrt(3^2 + 4^2)", "sin(radians(30))"]}}, "required": ["expression"], "examples": [{"expression": "(1 + 0.05)^10 * 1000"}]}, "description": "Evaluates one arithmetic expression and returns the number. Use it for any calculation beyond trivial mental arithmetic instead of working it out yourself. Operators: + - * / // (floor division) % (modulo, not percent) ^ or ** (power) and ! (factorial). Constants: pi, e, tau. Functions: sqrt, cbrt, abs, round, floor, ceil, trunc, sign, exp, log, ln, log2, log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, min, max, sum, mean, pow, mod, gcd, lcm, factorial, hypot, degrees, radians. Angles are in radians; log is natural unless written log(x, base). There are no variables, comparisons, lists or units, and numbers are written without thousands separators.", "output_schema": {"type": "object", "properties": {"result": {"type": "number", "description": "The value; whole numbers beyond 64 bits are rounded to a floating-point number."}}, "required": ["result"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Calculator", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 20:56:19.212382','01a1f598-91ef-7370-985c-d5b5ece20cea');
INSERT INTO "tool_versions" VALUES('01a1f5989219746faaf057f896596099','6b6d2eda2c7950659ce66502d73cc282',1,'{"name": "echo", "tool_type": "builtin", "config": {"operation": "echo"}, "input_schema": {"type": "object", "additionalProperties": true, "examples": [{"message": "hello"}]}, "description": "Returns exactly the arguments it was called with, under `echo`. Use it to check that tool calls work and how your arguments arrive; it does nothing else.", "output_schema": {"type": "object", "properties": {"echo": {"type": "object", "description": "The arguments of the call."}}, "required": ["echo"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Echo", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 20:56:19.212382','01a1f598-91ef-7370-985c-d5b5ece20cea');
INSERT INTO "tool_versions" VALUES('01a1f598921974999ca86838297cfa10','85f568ed8cd35e11a508d3927f353e28',1,'{"name": "calculate_rsi", "tool_type": "builtin", "config": {"operation": "calculate_rsi"}, "input_schema": {"type": "object", "properties": {"prices": {"type": "array", "items": {"type": "number", "minimum": -1e+300, "maximum": 1e+300}, "minItems": 2, "maxItems": 100000, "description": "Closing prices, oldest first; at least period + 1.", "examples": [[44.34, 44.09, 44.15, 43.61, 44.33]]}, "period": {"type": "integer", "minimum": 1, "maximum": 99999, "default": 14, "description": "How many price changes are averaged; 14 is usual."}, "overbought": {"type": "number", "minimum": 0, "maximum": 100, "default": 70, "description": "The RSI from which on the answer''s `overbought` is true."}, "oversold": {"type": "number", "minimum": 0, "maximum": 100, "default": 30, "description": "The RSI down from which the answer''s `oversold` is true."}, "include_series": {"type": "boolean", "default": true, "description": "false leaves `series` out of the answer: shorter when only the last value matters."}}, "required": ["prices"], "examples": [{"prices": [44.34, 44.09, 44.15, 43.61, 44.33], "period": 3}]}, "description": "Calculates the relative strength index (RSI) of a series of prices, with Wilder''s smoothing, and says whether the last value is overbought or oversold. Give the closing prices oldest first, at least period + 1 of them; around 100 or more make the smoothing settle. It fetches no prices: you must have them already.", "output_schema": {"type": "object", "properties": {"rsi": {"type": "number", "minimum": 0, "maximum": 100, "description": "The RSI at the last price."}, "overbought": {"type": "boolean", "description": "Whether `rsi` is at or above the threshold."}, "oversold": {"type": "boolean", "description": "Whether `rsi` is at or below the threshold."}, "period": {"type": "integer", "description": "The period that was used."}, "series": {"type": "array", "items": {"type": ["number", "null"]}, "description": "The RSI at every price, as many as `prices`; null for the first `period` of them."}}, "required": ["rsi", "overbought", "oversold", "period"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Calculate RSI", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 20:56:19.212382','01a1f598-91ef-7370-985c-d5b5ece20cea');
INSERT INTO "tool_versions" VALUES('01a1f598921974bb93c0b6072e87ad88','41a86778e8bd54c69de12c75630f7f9e',1,'{"name": "current_time", "tool_type": "builtin", "config": {"operation": "current_time"}, "input_schema": {"type": "object", "properties": {"timezone": {"type": "string", "maxLength": 64, "default": "UTC", "description": "An IANA time zone name.", "examples": ["UTC", "Europe/Berlin", "America/New_York"]}}, "examples": [{}, {"timezone": "Europe/Berlin"}]}, "description": "Returns the current date, time and weekday, in UTC or in the time zone you name. Call it whenever an answer depends on what day or time it is now; you cannot know that otherwise.", "output_schema": {"type": "object", "properties": {"iso": {"type": "string", "format": "date-time", "description": "ISO 8601, with the zone''s offset."}, "unix": {"type": "integer", "description": "Seconds since 1970-01-01T00:00:00Z."}, "timezone": {"type": "string", "description": "The time zone of `iso`, `date`, `time` and `weekday`."}, "abbreviation": {"type": ["string", "null"], "description": "What the zone is called now, such as CEST."}, "date": {"type": "string", "format": "date"}, "time": {"type": "string", "description": "HH:MM:SS, on a 24-hour clock."}, "weekday": {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]}}, "required": ["iso", "unix", "timezone", "date", "time", "weekday"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Current Time", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 20:56:19.212382','01a1f598-91ef-7370-985c-d5b5ece20cea');
INSERT INTO "tool_versions" VALUES('01a1f598921974dc8cb1f7d4112e9b4f','9e60bc7b2e6952c6bbf20b00e3006074',1,'{"name": "json_query", "tool_type": "builtin", "config": {"operation": "json_query"}, "input_schema": {"type": "object", "properties": {"data": {"description": "The JSON value to query: an object or array, not a string with JSON in it."}, "query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The JMESPath expression.", "examples": ["items[0].name", "items[?price > `10`].{name: name, price: price}", "sort_by(items, &price)[-1]", "length(items)"]}}, "required": ["data", "query"], "examples": [{"data": {"items": [{"name": "a", "price": 5}, {"name": "b", "price": 20}]}, "query": "items[?price > `10`]"}]}, "description": "Selects, filters, sorts and reshapes parts of a JSON value with a JMESPath query, and returns what it finds; null where nothing matches. Use it to get a few values out of a large JSON result without copying it by hand. Numbers in a query stand in backticks (`10`), strings in single quotes (''red''). It has no arithmetic.", "output_schema": {"type": "object", "properties": {"result": {"description": "What the query selects; null where nothing matches."}}, "required": ["result"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "JSON Query", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 20:56:19.212382','01a1f598-91ef-7370-985c-d5b5ece20cea');
INSERT INTO "tool_versions" VALUES('01a1f598921974fea400563deaf70f91','492cf430bf41555ebdbdf302bf383784',1,'{"name": "query_baseline", "tool_type": "internal", "config": {"handler": "query_baseline"}, "input_schema": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "query_type": {"type": "string", "enum": ["baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": ["finding_id", "composite_hash", "query_type"], "additionalProperties": false}, "description": "Return whether a finding is new, recurring or resolved, since when, and how often it was seen. Read-only.", "output_schema": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Query baseline", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 20:56:19.212382','01a1f598-91ef-7370-985c-d5b5ece20cea');
INSERT INTO "tool_versions" VALUES('01a1f5989219751d8e44ed10cf139c34','3d387905ae305c2882a8c97f9e4aa8d1',1,'{"name": "batch_baseline_query", "tool_type": "internal", "config": {"handler": "batch_baseline_query"}, "input_schema": {"type": "object", "properties": {"finding_ids": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "maxItems": 10000, "description": "What you call the findings"}, "composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "Their hashes, one for each of finding_ids in the same order"}, "query_type": {"type": "string", "enum": ["batch_baseline_check", "baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the same answer"}, "batch_size": {"type": "integer", "minimum": 1, "maximum": 10000, "description": "How many are looked up in one statement; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": ["finding_ids", "composite_hashes", "query_type"], "additionalProperties": false}, "description": "Return whether each of up to 10,000 findings is known, in the order of the request. Read-only.", "output_schema": {"type": "object", "properties": {"results": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}}}, "required": ["results"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Query baseline for many", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": 33554432, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 20:56:19.212382','01a1f598-91ef-7370-985c-d5b5ece20cea');
INSERT INTO "tool_versions" VALUES('01a1f5989219753e9f82b41bd402adc5','86374af31257591dbc5f4666a9fd2d72',1,'{"name": "record_findings", "tool_type": "internal", "config": {"handler": "record_findings"}, "input_schema": {"type": "object", "properties": {"findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["finding_id", "composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "What was seen"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": ["findings"], "additionalProperties": false}, "description": "Record that findings were seen. Each call counts as one sighting; a resolved finding that is seen again recurs.", "output_schema": {"type": "object", "properties": {"recorded": {"type": "integer", "minimum": 0}, "new": {"type": "integer", "minimum": 0}, "recurring": {"type": "integer", "minimum": 0}, "reopened": {"type": "integer", "minimum": 0}}, "required": ["recorded", "new", "recurring", "reopened"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Record findings", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 20:56:19.212382','01a1f598-91ef-7370-985c-d5b5ece20cea');
INSERT INTO "tool_versions" VALUES('01a1f5989219756189ff94995a683527','42944903dad95a33ae7df27da4aa4324',1,'{"name": "resolve_findings", "tool_type": "internal", "config": {"handler": "resolve_findings"}, "input_schema": {"type": "object", "properties": {"composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "The hashes of the findings"}, "findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "The findings"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": [], "additionalProperties": false}, "description": "Mark findings as resolved until they are seen again. Pass either composite_hashes or findings.", "output_schema": {"type": "object", "properties": {"resolved": {"type": "integer", "minimum": 0}, "already_resolved": {"type": "integer", "minimum": 0}, "unknown": {"type": "integer", "minimum": 0}}, "required": ["resolved", "already_resolved", "unknown"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Resolve findings", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 20:56:19.212382','01a1f598-91ef-7370-985c-d5b5ece20cea');
INSERT INTO "tool_versions" VALUES('01a1f59892d17356bbe528b1400836c6','01a1f59892cd7990bf12279b4e5f7d75',1,'{"name": "kept", "tool_type": "mock", "config": {"mock_response": {"sky": "clear"}}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden kept", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": true, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 20:56:19.405594','01a1f598-91ef-7370-985c-d5b5ece20cea');
INSERT INTO "tool_versions" VALUES('01a1f59892d8773dbec4ccbd58964de4','01a1f59892d672bbba623b24e9621035',1,'{"name": "limited", "tool_type": "mock", "config": {"mock_response": 1}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden limited", "output_schema": null, "rate_limit": {"max_calls": 1, "period": "hour", "burst": null, "scope": "caller"}, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 20:56:19.414167','01a1f598-91ef-7370-985c-d5b5ece20cea');
INSERT INTO "tool_versions" VALUES('01a1f598944a7c2ca4461ef2328e990b','01a1f598944770d8a3d076e2594ea14a',1,'{"name": "note", "tool_type": "table", "config": {"tableName": "notes", "fields": [{"name": "text", "dataType": "text"}]}, "input_schema": {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"text": {"type": ["string", "null"]}}, "required": [], "additionalProperties": false}, "description": "Golden note", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "reject", "result_style": "detailed", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 20:56:19.783046','01a1f598-91ef-7370-985c-d5b5ece20cea');
INSERT INTO "tool_versions" VALUES('01a1f598945f786d88d61de51f027245','01a1f5989458759fbf050fc16bdeb955',1,'{"name": "print", "tool_type": "python", "config": {"code": "def show(text: str) -> str:\n    print(''printed'', text)\n    return text\n"}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden print", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 20:56:19.800345','01a1f598-91ef-7370-985c-d5b5ece20cea');
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
INSERT INTO "tools" VALUES('4f56c6ab4df05007b19254f29c273c7e',1,'2026-11-19 20:56:19.212382','2026-11-19 20:56:19.212382',0,NULL,'01a1f59891ef7370985cd5b5ece20cea','math_eval','Evaluates one arithmetic expression and returns the number. Use it for any calculation beyond trivial mental arithmetic instead of working it out yourself. Operators: + - * / // (floor division) % (modulo, not percent) ^ or ** (power) and ! (factorial). Constants: pi, e, tau. Functions: sqrt, cbrt, abs, round, floor, ceil, trunc, sign, exp, log, ln, log2, log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, min, max, sum, mean, pow, mod, gcd, lcm, factorial, hypot, degrees, radians. Angles are in radians; log is natural unless written log(x, base). There are no variables, comparisons, lists or units, and numbers are written without thousands separators.','builtin','{"operation": "math_eval"}','{"type": "object", "properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "The expression to evaluate.", "examples": ["2+2", "(1 + 0.05)^10 * 1000", "sqrt(3^2 + 4^2)", "sin(radians(30))"]}}, "required": ["expression"], "examples": [{"expression": "(1 + 0.05)^10 * 1000"}]}','{"type": "object", "properties": {"result": {"type": "number", "description": "The value; whole numbers beyond 64 bits are rounded to a floating-point number."}}, "required": ["result"]}',NULL,NULL,1,1,1,'Calculator','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('6b6d2eda2c7950659ce66502d73cc282',1,'2026-11-19 20:56:19.212382','2026-11-19 20:56:19.212382',0,NULL,'01a1f59891ef7370985cd5b5ece20cea','echo','Returns exactly the arguments it was called with, under `echo`. Use it to check that tool calls work and how your arguments arrive; it does nothing else.','builtin','{"operation": "echo"}','{"type": "object", "additionalProperties": true, "examples": [{"message": "hello"}]}','{"type": "object", "properties": {"echo": {"type": "object", "description": "The arguments of the call."}}, "required": ["echo"]}',NULL,NULL,1,1,1,'Echo','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('85f568ed8cd35e11a508d3927f353e28',1,'2026-11-19 20:56:19.212382','2026-11-19 20:56:19.212382',0,NULL,'01a1f59891ef7370985cd5b5ece20cea','calculate_rsi','Calculates the relative strength index (RSI) of a series of prices, with Wilder''s smoothing, and says whether the last value is overbought or oversold. Give the closing prices oldest first, at least period + 1 of them; around 100 or more make the smoothing settle. It fetches no prices: you must have them already.','builtin','{"operation": "calculate_rsi"}','{"type": "object", "properties": {"prices": {"type": "array", "items": {"type": "number", "minimum": -1e+300, "maximum": 1e+300}, "minItems": 2, "maxItems": 100000, "description": "Closing prices, oldest first; at least period + 1.", "examples": [[44.34, 44.09, 44.15, 43.61, 44.33]]}, "period": {"type": "integer", "minimum": 1, "maximum": 99999, "default": 14, "description": "How many price changes are averaged; 14 is usual."}, "overbought": {"type": "number", "minimum": 0, "maximum": 100, "default": 70, "description": "The RSI from which on the answer''s `overbought` is true."}, "oversold": {"type": "number", "minimum": 0, "maximum": 100, "default": 30, "description": "The RSI down from which the answer''s `oversold` is true."}, "include_series": {"type": "boolean", "default": true, "description": "false leaves `series` out of the answer: shorter when only the last value matters."}}, "required": ["prices"], "examples": [{"prices": [44.34, 44.09, 44.15, 43.61, 44.33], "period": 3}]}','{"type": "object", "properties": {"rsi": {"type": "number", "minimum": 0, "maximum": 100, "description": "The RSI at the last price."}, "overbought": {"type": "boolean", "description": "Whether `rsi` is at or above the threshold."}, "oversold": {"type": "boolean", "description": "Whether `rsi` is at or below the threshold."}, "period": {"type": "integer", "description": "The period that was used."}, "series": {"type": "array", "items": {"type": ["number", "null"]}, "description": "The RSI at every price, as many as `prices`; null for the first `period` of them."}}, "required": ["rsi", "overbought", "oversold", "period"]}',NULL,NULL,1,1,1,'Calculate RSI','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('41a86778e8bd54c69de12c75630f7f9e',1,'2026-11-19 20:56:19.212382','2026-11-19 20:56:19.212382',0,NULL,'01a1f59891ef7370985cd5b5ece20cea','current_time','Returns the current date, time and weekday, in UTC or in the time zone you name. Call it whenever an answer depends on what day or time it is now; you cannot know that otherwise.','builtin','{"operation": "current_time"}','{"type": "object", "properties": {"timezone": {"type": "string", "maxLength": 64, "default": "UTC", "description": "An IANA time zone name.", "examples": ["UTC", "Europe/Berlin", "America/New_York"]}}, "examples": [{}, {"timezone": "Europe/Berlin"}]}','{"type": "object", "properties": {"iso": {"type": "string", "format": "date-time", "description": "ISO 8601, with the zone''s offset."}, "unix": {"type": "integer", "description": "Seconds since 1970-01-01T00:00:00Z."}, "timezone": {"type": "string", "description": "The time zone of `iso`, `date`, `time` and `weekday`."}, "abbreviation": {"type": ["string", "null"], "description": "What the zone is called now, such as CEST."}, "date": {"type": "string", "format": "date"}, "time": {"type": "string", "description": "HH:MM:SS, on a 24-hour clock."}, "weekday": {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]}}, "required": ["iso", "unix", "timezone", "date", "time", "weekday"]}',NULL,NULL,1,1,1,'Current Time','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('9e60bc7b2e6952c6bbf20b00e3006074',1,'2026-11-19 20:56:19.212382','2026-11-19 20:56:19.212382',0,NULL,'01a1f59891ef7370985cd5b5ece20cea','json_query','Selects, filters, sorts and reshapes parts of a JSON value with a JMESPath query, and returns what it finds; null where nothing matches. Use it to get a few values out of a large JSON result without copying it by hand. Numbers in a query stand in backticks (`10`), strings in single quotes (''red''). It has no arithmetic.','builtin','{"operation": "json_query"}','{"type": "object", "properties": {"data": {"description": "The JSON value to query: an object or array, not a string with JSON in it."}, "query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The JMESPath expression.", "examples": ["items[0].name", "items[?price > `10`].{name: name, price: price}", "sort_by(items, &price)[-1]", "length(items)"]}}, "required": ["data", "query"], "examples": [{"data": {"items": [{"name": "a", "price": 5}, {"name": "b", "price": 20}]}, "query": "items[?price > `10`]"}]}','{"type": "object", "properties": {"result": {"description": "What the query selects; null where nothing matches."}}, "required": ["result"]}',NULL,NULL,1,1,1,'JSON Query','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('492cf430bf41555ebdbdf302bf383784',1,'2026-11-19 20:56:19.212382','2026-11-19 20:56:19.212382',0,NULL,'01a1f59891ef7370985cd5b5ece20cea','query_baseline','Return whether a finding is new, recurring or resolved, since when, and how often it was seen. Read-only.','internal','{"handler": "query_baseline"}','{"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "query_type": {"type": "string", "enum": ["baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": ["finding_id", "composite_hash", "query_type"], "additionalProperties": false}','{"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}',NULL,NULL,1,1,1,'Query baseline','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('3d387905ae305c2882a8c97f9e4aa8d1',1,'2026-11-19 20:56:19.212382','2026-11-19 20:56:19.212382',0,NULL,'01a1f59891ef7370985cd5b5ece20cea','batch_baseline_query','Return whether each of up to 10,000 findings is known, in the order of the request. Read-only.','internal','{"handler": "batch_baseline_query"}','{"type": "object", "properties": {"finding_ids": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "maxItems": 10000, "description": "What you call the findings"}, "composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "Their hashes, one for each of finding_ids in the same order"}, "query_type": {"type": "string", "enum": ["batch_baseline_check", "baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the same answer"}, "batch_size": {"type": "integer", "minimum": 1, "maximum": 10000, "description": "How many are looked up in one statement; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": ["finding_ids", "composite_hashes", "query_type"], "additionalProperties": false}','{"type": "object", "properties": {"results": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}}}, "required": ["results"], "additionalProperties": false}',NULL,NULL,1,1,1,'Query baseline for many','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,1,0,0,33554432,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('86374af31257591dbc5f4666a9fd2d72',1,'2026-11-19 20:56:19.212382','2026-11-19 20:56:19.212382',0,NULL,'01a1f59891ef7370985cd5b5ece20cea','record_findings','Record that findings were seen. Each call counts as one sighting; a resolved finding that is seen again recurs.','internal','{"handler": "record_findings"}','{"type": "object", "properties": {"findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["finding_id", "composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "What was seen"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": ["findings"], "additionalProperties": false}','{"type": "object", "properties": {"recorded": {"type": "integer", "minimum": 0}, "new": {"type": "integer", "minimum": 0}, "recurring": {"type": "integer", "minimum": 0}, "reopened": {"type": "integer", "minimum": 0}}, "required": ["recorded", "new", "recurring", "reopened"], "additionalProperties": false}',NULL,NULL,1,1,1,'Record findings','["baseline"]',NULL,'ignore','envelope',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('42944903dad95a33ae7df27da4aa4324',1,'2026-11-19 20:56:19.212382','2026-11-19 20:56:19.212382',0,NULL,'01a1f59891ef7370985cd5b5ece20cea','resolve_findings','Mark findings as resolved until they are seen again. Pass either composite_hashes or findings.','internal','{"handler": "resolve_findings"}','{"type": "object", "properties": {"composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "The hashes of the findings"}, "findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "The findings"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": [], "additionalProperties": false}','{"type": "object", "properties": {"resolved": {"type": "integer", "minimum": 0}, "already_resolved": {"type": "integer", "minimum": 0}, "unknown": {"type": "integer", "minimum": 0}}, "required": ["resolved", "already_resolved", "unknown"], "additionalProperties": false}',NULL,NULL,1,1,1,'Resolve findings','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,0,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('01a1f59892cd7990bf12279b4e5f7d75',2,'2026-11-19 20:56:19.405594','2026-11-19 20:56:19.405594',0,NULL,'01a1f59891ef7370985cd5b5ece20cea','kept','Golden kept','mock','{"mock_response": {"sky": "clear"}}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,1,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('01a1f59892d672bbba623b24e9621035',3,'2026-11-19 20:56:19.414167','2026-11-19 20:56:19.414167',0,NULL,'01a1f59891ef7370985cd5b5ece20cea','limited','Golden limited','mock','{"mock_response": 1}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,'{"max_calls": 1, "period": "hour", "burst": null, "scope": "caller"}',1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('01a1f598944770d8a3d076e2594ea14a',8,'2026-11-19 20:56:19.783046','2026-11-19 20:56:19.783046',0,NULL,'01a1f59891ef7370985cd5b5ece20cea','note','Golden note','table','{"tableName": "notes", "fields": [{"name": "text", "dataType": "text"}]}','{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"text": {"type": ["string", "null"]}}, "required": [], "additionalProperties": false}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'reject','detailed',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('01a1f5989458759fbf050fc16bdeb955',9,'2026-11-19 20:56:19.800345','2026-11-19 20:56:19.800345',0,NULL,'01a1f59891ef7370985cd5b5ece20cea','print','Golden print','python','{"code": "def show(text: str) -> str:\n    print(''printed'', text)\n    return text\n"}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel',NULL);
CREATE TABLE upstreams (
	owner_id CHAR(32) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	prefix VARCHAR(64) NOT NULL, 
	config JSON NOT NULL, 
	auth_config JSON, 
	include JSON NOT NULL, 
	is_public BOOLEAN, 
	follow BOOLEAN NOT NULL, 
	tools JSON NOT NULL, 
	entries TEXT NOT NULL, 
	is_deleted BOOLEAN NOT NULL, 
	deleted_at DATETIME, 
	updated_at DATETIME NOT NULL, 
	revision BIGINT NOT NULL, 
	created_at DATETIME NOT NULL, 
	id CHAR(32) NOT NULL, 
	CONSTRAINT pk_upstreams PRIMARY KEY (id), 
	CONSTRAINT fk_upstreams_owner_id FOREIGN KEY(owner_id) REFERENCES users (id)
);
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
INSERT INTO "users" VALUES('01a1f59891ef7370985cd5b5ece20cea',1,'2026-11-19 20:56:19.183208','2026-11-19 20:56:19.183208',0,NULL,'admin','admin','9ad394ebf5f9ce29905ca90004abaeac1aecb40690a3566774107244c1121e81');
INSERT INTO "users" VALUES('01a1f59893e17c31bab4c66c1711a75e',4,'2026-11-19 20:56:19.681753','2026-11-19 20:56:19.681753',0,NULL,'ada','member','c1fe59085ec9f336cc2b95b4e2a794d9df469bad74c7b9fc455a5f1ea9d3dbdf');
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
INSERT INTO "writers" VALUES(1,'01a1f59892497971808195175f78f6c6','vm',27069,'2026-11-19 20:56:19.347576','2026-11-19 20:56:25.859435',32,23,'e34717368e22c2c15f99a5e516f94148','571277bd20d614a2d54cff0899210825',3,'3f18be925476e162d3bffcef91ea9a30','06c7cf2d6d738fa57d9d61ce8db705b3',23);
INSERT INTO "writers" VALUES(2,'01a1f598924978a6aff026203233d958','vm',27069,'2026-11-19 20:56:19.835416','2026-11-19 20:56:25.873425',4,1,'b286b51bc272fa92c7cb1bc17e1d8893','54b38faca8fdbb26bbbfae656219146a',0,'','',1);
INSERT INTO "writers" VALUES(3,'01a1f598ab657c2da983e159243bf815','vm',27138,'2026-11-19 20:56:25.768636','2026-11-19 20:56:25.824747',1,0,'','04bc6aea092548a1ec266fd6ca570f4d',0,'','',0);
INSERT INTO "writers" VALUES(4,'01a1f598abcf7ea78718a82f1ce1b3e0','vm',27069,'2026-11-19 20:56:25.825209','2026-11-19 20:56:25.838343',2,1,'858258487e9422b983d6520baa5dd98c','fa9d7ac67f6712bd2be47dbb04f943d5',0,'','',1);
INSERT INTO "writers" VALUES(5,'01a1f598bd20767c93df464bc0166423','vm',27188,'2026-11-19 20:56:30.483823','2026-11-19 20:56:30.500262',2,1,'c4262f15116453d25fb9233393c30ebc','3ecb563d05d332ea329adcb25129df8a',0,'','',1);
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
CREATE INDEX idx_upstream_owner ON upstreams (owner_id, id);
CREATE INDEX idx_upstream_revision ON upstreams (revision);
COMMIT;
