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
INSERT INTO "agents" VALUES('01a1ef8b2088792e8fc1976f015fb221',6,'2026-11-18 16:43:54.888567','2026-11-18 16:43:54.888567',0,NULL,'01a1ef8b20617f63b7c225880ec8327d','helper',NULL,'[]');
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0007_tries');
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
INSERT INTO "api_keys" VALUES('01a1ef8b1d967760927e2cec52850b9d',1,'2026-11-18 16:43:54.126789','01a1ef8b1d8172eab53c9a52f0df08cb','PEGBOARD_ADMIN_KEY','the-admi','4a926f4e9b4574181ccf97e68f1d57c3ea45a7338d224f150304f020afd0e98b',NULL,NULL,NULL);
INSERT INTO "api_keys" VALUES('01a1ef8b206f7deba5457e9b352afb9e',5,'2026-11-18 16:43:54.863864','01a1ef8b20617f63b7c225880ec8327d','laptop','pb_QH-Ff','dc2e1cac6604307e59f1264d9421285ddd2f16fd64cf29b166fa9710086e8eac',NULL,NULL,NULL);
INSERT INTO "api_keys" VALUES('01a1ef8b20e07f41b16a3734c8c17508',7,'2026-11-18 16:43:54.976949','01a1ef8b20617f63b7c225880ec8327d','robot','pb_OaWUy','1be697df60d25cba5afae884c185433c5a51c3ad9fec5e4a8e39d8d5cc64b344','01a1ef8b2088792e8fc1976f015fb221',NULL,NULL);
CREATE TABLE board_state (
	id INTEGER NOT NULL, 
	revision BIGINT NOT NULL, writers INTEGER DEFAULT '0' NOT NULL, writers_signature VARCHAR(32) DEFAULT '' NOT NULL, 
	CONSTRAINT pk_board_state PRIMARY KEY (id), 
	CONSTRAINT ck_board_state_single CHECK (id = 1)
);
INSERT INTO "board_state" VALUES(1,12,4,'c49517b684a76b5542ae3f535bbe9294');
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
INSERT INTO "execution_counts" VALUES(498616,'','','refused','tool_not_found',71,1);
INSERT INTO "execution_counts" VALUES(498616,'','','refused','tool_not_found',75,1);
INSERT INTO "execution_counts" VALUES(498616,'','dies','in_doubt','in_doubt',96,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',73,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',78,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',79,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',84,2);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',87,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',88,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',107,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',142,1);
INSERT INTO "execution_counts" VALUES(498616,'','fails','failed','execution_failed',153,1);
INSERT INTO "execution_counts" VALUES(498616,'','kept','refused','missing',109,1);
INSERT INTO "execution_counts" VALUES(498616,'','kept','succeeded','',106,1);
INSERT INTO "execution_counts" VALUES(498616,'','limited','refused','rate_limited',82,1);
INSERT INTO "execution_counts" VALUES(498616,'','limited','succeeded','',106,1);
INSERT INTO "execution_counts" VALUES(498616,'','math_eval','failed','execution_failed',108,1);
INSERT INTO "execution_counts" VALUES(498616,'','math_eval','succeeded','',97,1);
INSERT INTO "execution_counts" VALUES(498616,'','note','succeeded','',180,1);
INSERT INTO "execution_counts" VALUES(498616,'','once','refused','idempotency_conflict',123,1);
INSERT INTO "execution_counts" VALUES(498616,'','once','succeeded','',159,2);
INSERT INTO "execution_counts" VALUES(498616,'','print','succeeded','',237,1);
INSERT INTO "execution_counts" VALUES(498616,'','replaced','succeeded','',179,1);
INSERT INTO "execution_counts" VALUES(498616,'','tried','failed','contract_violation',184,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','','refused','tool_not_found',75,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','dies','in_doubt','in_doubt',96,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','echo','succeeded','',73,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','echo','succeeded','',78,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','echo','succeeded','',84,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','echo','succeeded','',87,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','echo','succeeded','',88,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','echo','succeeded','',107,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','echo','succeeded','',142,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','fails','failed','execution_failed',153,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','kept','refused','missing',109,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','kept','succeeded','',106,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','limited','refused','rate_limited',82,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','limited','succeeded','',106,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','math_eval','failed','execution_failed',108,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','math_eval','succeeded','',97,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','note','succeeded','',180,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','once','refused','idempotency_conflict',123,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','once','succeeded','',159,2);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','print','succeeded','',237,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','replaced','succeeded','',179,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','tried','failed','contract_violation',184,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-2061-7f63-b7c2-25880ec8327d','','refused','tool_not_found',71,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-2061-7f63-b7c2-25880ec8327d','echo','succeeded','',79,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-2061-7f63-b7c2-25880ec8327d','echo','succeeded','',84,1);
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
INSERT INTO "executions" VALUES('01a1ef8b1ef87f95b7becc7f3ef2cecd','echo','succeeded','2026-11-18 16:43:54.488966','2026-11-18 16:43:54.489204',0.195,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef8b-1ef8-7f95-b7be-cc7f3ef2cecd',NULL,NULL,'89ff6c71afeaba6c610de84a4fd12403',NULL,NULL,NULL,NULL,NULL,NULL,1,4,'18f0e5b30b06c76fb7a54ddbc417e764',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8b1f007e32afe721f913f5e7d1','kept','succeeded','2026-11-18 16:43:54.496881','2026-11-18 16:43:54.497478',0.562,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','admin','library','plain',1,'01a1ef8b-1e99-7333-8625-4f3bdbbfa36d',1,'mock',NULL,NULL,'01a1ef8b-1f00-7e32-afe7-21f913f5e7d1',NULL,NULL,'b3de4a8d0e7dd54f39d8b20f2c48aa2b','{"text":"a ☃ and a 😀, \"quoted\", \\ and a\nline","number":-1.5e+300}',NULL,NULL,NULL,NULL,NULL,1,5,'40aeadca90ff988b4220eb944f4e4d75',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8b1f0b7d4899da1a146c037c4a','fails','failed','2026-11-18 16:43:54.507822','2026-11-18 16:43:54.517038',9.166,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','admin','library','plain',1,'292d6f6c-a238-532d-ba7c-02469f556f4e',1,'internal',NULL,NULL,'01a1ef8b-1f0b-7d48-99da-1a146c037c4a','execution_failed','cannot do a ☃ and a 😀, "quoted", \ and a
line','89ff6c71afeaba6c610de84a4fd12403',NULL,NULL,NULL,NULL,NULL,NULL,1,6,'5f7e7300500cb03b3a08c5e625a0e343',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8b1f1e7d5da96a6d09ba2b5804','math_eval','failed','2026-11-18 16:43:54.526826','2026-11-18 16:43:54.527499',0.635,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','admin','library','plain',1,'4f56c6ab-4df0-5007-b192-54f29c273c7e',1,'builtin',NULL,NULL,'01a1ef8b-1f1e-7d5d-a96a-6d09ba2b5804','execution_failed','Division by zero at position 2; change the divisor','0c46df0d2f0964644c76fdc979a04763',NULL,NULL,NULL,NULL,NULL,NULL,1,7,'8e1ee12b80b17805d1dfffc93390306c',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8b1f347748b1b9d208b3c7415d','kept','refused','2026-11-18 16:43:54.548446','2026-11-18 16:43:54.549195',0.678,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','admin','library','plain',0,'01a1ef8b-1e99-7333-8625-4f3bdbbfa36d',1,'mock',NULL,NULL,'01a1ef8b-1f34-7748-b1b9-d208b3c7415d','missing','Invalid parameters: missing ''text''',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,8,'ac6981013feefcd08e7c73a788b541e4',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8b1f3a7b62a624b3bd4a871719','no_such_tool','refused','2026-11-18 16:43:54.554703','2026-11-18 16:43:54.554839',0.089,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','admin','library','plain',0,NULL,NULL,NULL,NULL,NULL,'01a1ef8b-1f3a-7b62-a624-b3bd4a871719','tool_not_found','Tool ''no_such_tool'' not found',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,9,'8e1e0a42571acefccd640c4883d1fe4f',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8b1f3c7262917fb91d4f88c838','limited','succeeded','2026-11-18 16:43:54.556144','2026-11-18 16:43:54.556730',0.557,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','admin','library','plain',1,'01a1ef8b-1ed0-7acb-92d6-34a0f5f93326',1,'mock',NULL,NULL,'01a1ef8b-1f3c-7262-917f-b91d4f88c838',NULL,NULL,'13027cc9cf24191ceefff14c1ce77981',NULL,NULL,NULL,NULL,NULL,NULL,1,10,'3b96184c7b07bf70c8ca81e5ec3e788a',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8b1f3e7b5ea4a585a450fae352','limited','refused','2026-11-18 16:43:54.558706','2026-11-18 16:43:54.558868',0.133,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','admin','library','plain',0,'01a1ef8b-1ed0-7acb-92d6-34a0f5f93326',1,'mock',NULL,NULL,'01a1ef8b-1f3e-7b5e-a4a5-85a450fae352','rate_limited','Rate limit of ''limited'' reached: 1 call per hour; try again in 3600 s','6fa89dfc67e9b81182e8c0d86ed16b35',NULL,NULL,NULL,NULL,NULL,NULL,1,11,'ac23a84eeb9b7b2f1e15106437824b91',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8b20eb75fdb324c23950ea6331','echo','succeeded','2026-11-18 16:43:54.987370','2026-11-18 16:43:54.987549',0.146,'01a1ef8b-2061-7f63-b7c2-25880ec8327d','ada','rest','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin','01a1ef8b-206f-7deb-a545-7e9b352afb9e',NULL,'request-1',NULL,NULL,'8f2a5c42bbe94219415f1633c7d46dfd',NULL,NULL,NULL,NULL,NULL,NULL,1,12,'f581f7d2f6a26201ac0f820df81eddd7',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8b2120700c9ab67966c84dd6ef','echo','refused','2026-11-18 16:43:55.039996','2026-11-18 16:43:55.040094',0.068,'01a1ef8b-2061-7f63-b7c2-25880ec8327d','ada','rest','plain',0,NULL,NULL,NULL,'01a1ef8b-20e0-7f41-b16a-3734c8c17508','01a1ef8b-2088-792e-8fc1-976f015fb221','01a1ef8b-2120-700c-9ab6-7966c84dd6ef','tool_not_found','Tool ''echo'' not found',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,13,'8c34b380e887080fdacc5565b228aad6',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8b21257da8bdc039c3a8ba2711','echo','succeeded','2026-11-18 16:43:55.045848','2026-11-18 16:43:55.045987',0.111,'01a1ef8b-2061-7f63-b7c2-25880ec8327d','ada','rest','openai_chat',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin','01a1ef8b-206f-7deb-a545-7e9b352afb9e',NULL,'01a1ef8b-2125-7868-84af-b1cd39cf41e2',NULL,NULL,'3fcfef8db1ec3e3b4b59988b569a1f8d',NULL,NULL,NULL,NULL,NULL,NULL,1,14,'8a169d5eb29110681407403af6bd8dde',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8b212a792196e15b09d13bc456','once','succeeded','2026-11-18 16:43:55.050566','2026-11-18 16:43:55.063831',13.222,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','admin','library','plain',1,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1ef8b-212a-7921-96e1-5b09d13bc456',NULL,NULL,'f1974ef811dc428199e7ee4c925b8606',NULL,NULL,NULL,NULL,NULL,'"A"',1,15,'895a5e985e1b127208998f8cd0ff66da',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8b216077dc89f77806e194f349','once','succeeded','2026-11-18 16:43:55.104483','2026-11-18 16:43:55.106841',13.222,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','admin','library','plain',0,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1ef8b-2160-77dc-89f7-7806e194f349',NULL,NULL,'f1974ef811dc428199e7ee4c925b8606',NULL,NULL,NULL,NULL,'01a1ef8b-212a-7921-96e1-5b09d13bc456','"A"',1,16,'8d6af917238663a6a05c67aecd98038d',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8b216e786089514d9efa019051','once','refused','2026-11-18 16:43:55.118516','2026-11-18 16:43:55.120097',1.531,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','admin','library','plain',0,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1ef8b-216e-7860-8951-4d9efa019051','idempotency_conflict','This idempotency key was used for ''once'' with other arguments; send the same arguments again, or a new key for a new call','38be62bf21b7278665132f236c06e660',NULL,NULL,NULL,NULL,NULL,NULL,1,17,'06eab59501b6af4eeefe38821363e65b',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8b218574acb7b3533a1ebd0628','tried','failed','2026-11-18 16:43:55.141280','2026-11-18 16:43:55.202185',60.871,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','admin','library','plain',2,'47fe7a73-0ae4-5d70-aa28-58a231407683',1,'internal',NULL,NULL,'01a1ef8b-2185-74ac-b7b3-533a1ebd0628','contract_violation','The tool''s output breaks its output schema: The output must be an integer','1939978438ee00b1be1de627d6e3387c',NULL,NULL,NULL,NULL,NULL,NULL,1,18,'7046904621fbaee68a6b0d6980369b69',NULL,'[{"attempt":1,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":0.95},{"attempt":2,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":0.23}]');
INSERT INTO "executions" VALUES('01a1ef8b21f27753b0a1277602fb65af','replaced','succeeded','2026-11-18 16:43:55.250449','2026-11-18 16:43:55.294309',43.818,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','admin','library','plain',2,'0b58c42c-a575-56ea-8e61-45f3fdeaeca4',1,'internal',NULL,NULL,'01a1ef8b-21f2-7753-b0a1-277602fb65af',NULL,NULL,'1939978438ee00b1be1de627d6e3387c',NULL,NULL,NULL,NULL,NULL,NULL,1,19,'6c8087b422361a07dde0f8bc8b3c0e14',NULL,'[{"attempt":1,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":0.922},{"attempt":2,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":0.272}]');
INSERT INTO "executions" VALUES('01a1ef8b23117a7abef11bb000c9a030','note','succeeded','2026-11-18 16:43:55.537646','2026-11-18 16:43:55.584379',46.712,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','admin','library','plain',1,'01a1ef8b-222f-7cd6-b366-5511c0324655',1,'table',NULL,NULL,'01a1ef8b-2311-7a7a-bef1-1bb000c9a030',NULL,NULL,'695102f6093f7fc881d67f6fd8ffc39e',NULL,'1',NULL,NULL,NULL,NULL,1,20,'d5eb491a93808ad1f0ba3e9cebb9d0fc',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8b23547702843b2b56159c660d','print','succeeded','2026-11-18 16:43:55.604429','2026-11-18 16:43:57.065387',1460.909,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','admin','library','plain',1,'01a1ef8b-22cd-7fd6-8e01-a384fbc75136',1,'python',NULL,NULL,'01a1ef8b-2354-7702-843b-2b56159c660d',NULL,NULL,'1383201d833b14c6e5e6ac48dace9b7d',NULL,NULL,NULL,NULL,NULL,NULL,1,21,'18651e6e2bedc43602e55642511b4197','printed text
',NULL);
INSERT INTO "executions" VALUES('01a1ef8b290c7840815096dfc87b56f2','math_eval','succeeded','2026-11-18 16:43:57.068543','2026-11-18 16:43:57.068903',0.331,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','admin','library','plain',1,'4f56c6ab-4df0-5007-b192-54f29c273c7e',1,'builtin',NULL,NULL,'01a1ef8b-290c-7840-8150-96dfc87b56f2',NULL,NULL,'282be4376270bf1a67bed4b518435de6',NULL,NULL,'01a1ef8b-290c-7458-a091-86c62476120f',NULL,NULL,NULL,1,22,'587b2d3d148e532f73018a36c3a474bc',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8b290e748fb8285fdd57fab183','echo','succeeded','2026-11-18 16:43:57.070306','2026-11-18 16:43:57.070401',0.077,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef8b-290e-748f-b828-5fdd57fab183',NULL,NULL,'3725b08c4322658964186d3c4fa2cc4c',NULL,NULL,'01a1ef8b-290c-7458-a091-86c62476120f',NULL,NULL,NULL,1,23,'52b5ab93c827277846120a2a61886cc4',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8b2915707087902a1636c41870','echo','succeeded','2026-11-18 16:43:57.077024','2026-11-18 16:43:57.077154',0.102,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef8b-2915-7070-8790-2a1636c41870',NULL,NULL,'fa1b6388e46a1cd0c8e30717f6a67aad',NULL,NULL,NULL,'01a1ef8b-290f-7878-b7df-c564452007a0',NULL,NULL,1,24,'6857dbe68e4c010b0f92f105bf30b5d5',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8b4eec7881a5f3ff8e08ae791e','dies','in_doubt','2026-11-18 16:44:06.764526','2026-11-18 16:44:07.068161',0.311,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','admin','library','plain',1,'301f3051-930d-5d5d-ae86-e078a5b82b33',1,'internal',NULL,NULL,'01a1ef8b-4eec-7881-a5f3-ff8e08ae791e','in_doubt','The server ended while this call was running; whether it took effect is not known','1939978438ee00b1be1de627d6e3387c',NULL,NULL,NULL,NULL,NULL,NULL,3,1,'837fcaaf658915a73a36e1d4d09dacbf',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8b7074797794f6d3c0ac306b93','echo','succeeded','2026-11-18 16:44:15.348585','2026-11-18 16:44:15.349244',0.613,'01a1ef8b-1d81-72ea-b53c-9a52f0df08cb','admin','cli','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef8b-7074-7977-94f6-d3c0ac306b93',NULL,NULL,'2303da51cd10a7404bff27b564f498c4',NULL,NULL,NULL,NULL,NULL,NULL,4,1,'29459e38c337501de3185d5306b2408c',NULL,NULL);
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
INSERT INTO "intents" VALUES('01a1ef8b212a792196e15b09d13bc456',1,'done','',0,'2288b7a2bf6ee69a669eeff6f7fca1efbf0de706401796780733e65d93ffd65d','f1974ef811dc428199e7ee4c925b8606','pb1:b3457b1d:qs-C-RLyAq1GpD7S9qhxxeVeWTeRF_ud-hgw2y2wDNFTppWv8L_uPi4loyHolI1sJhE9fkmP61PGu6-N_lmeuA8SwqrBUpkOZvOZV2sfW5OsErCVlAqS5jDkUwVJ6TMr3czFt5IRqlsCY_yrWL1eo90sYRK6HhPR-FBWVTAWa-ArPtiiHZ46ag','2026-11-19 16:43:55.050898');
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
INSERT INTO "messages" VALUES('01a1ef8b290f7878b7dfc564452007a0',0,'01a1ef8b29187c17ac599a2ea5d350e1','assistant',NULL,'2026-11-18 16:43:57.078506','[{"id":"call_01a1ef8b2915707087902a1636c41870","name":"echo","arguments":{"text":"thread"},"result":{"echo":{"text":"thread"}},"duration_ms":0.102,"attempts":1,"run_id":"01a1ef8b-2915-7070-8790-2a1636c41870","result_valid":true}]','plain',NULL);
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
INSERT INTO "secrets" VALUES('01a1ef8b1d8474acb396fe421cbfbf94',1,'2026-11-18 16:43:54.116289','2026-11-18 16:43:54.116289','01a1ef8b1d8172eab53c9a52f0df08cb','$root','pb1:b3457b1d:kcA_wrvS0-MIubUm3QRxUPVGu0f62za8zo9Zj_EcwNs4wKRYQaCDgfZmn6FYIjtDd_TswPhvpa5L9u4cxvyABvMM46vdnujM');
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
INSERT INTO "threads" VALUES('01a1ef8b290f7878b7dfc564452007a0','01a1ef8b1d8172eab53c9a52f0df08cb','golden',1,'2026-11-18 16:43:57.071526','2026-11-18 16:43:57.078691');
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
INSERT INTO "tool_versions" VALUES('01a1ef8b1dbd7e398c7a5ee20d73b5d5','4f56c6ab4df05007b19254f29c273c7e',1,'{"name": "math_eval", "tool_type": "builtin", "config": {"operation": "math_eval"}, "input_schema": {"type": "object", "properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "The expression to evaluate.", "examples": ["2+2", "(1 + 0.05)^10 * 1000", "sqrt(3^2 + 4^2)", "sin(radians(30))"]}}, "required": ["expression"], "examples": [{"expression": "(1 + 0.05)^10 * 1000"}]}, "description": "Evaluates one arithmetic expression and returns the number. Use it for any calculation beyond trivial mental arithmetic instead of working it out yourself. Operators: + - * / // (floor division) % (modulo, not percent) ^ or ** (power) and ! (factorial). Constants: pi, e, tau. Functions: sqrt, cbrt, abs, round, floor, ceil, trunc, sign, exp, log, ln, log2, log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, min, max, sum, mean, pow, mod, gcd, lcm, factorial, hypot, degrees, radians. Angles are in radians; log is natural unless written log(x, base). There are no variables, comparisons, lists or units, and numbers are written without thousands separators.", "output_schema": {"type": "object", "properties": {"result": {"type": "number", "description": "The value; whole numbers beyond 64 bits are rounded to a floating-point number."}}, "required": ["result"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Calculator", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:43:54.140184','01a1ef8b-1d81-72ea-b53c-9a52f0df08cb');
INSERT INTO "tool_versions" VALUES('01a1ef8b1dbd7f3ea0b77db1d90b267f','6b6d2eda2c7950659ce66502d73cc282',1,'{"name": "echo", "tool_type": "builtin", "config": {"operation": "echo"}, "input_schema": {"type": "object", "additionalProperties": true, "examples": [{"message": "hello"}]}, "description": "Returns exactly the arguments it was called with, under `echo`. Use it to check that tool calls work and how your arguments arrive; it does nothing else.", "output_schema": {"type": "object", "properties": {"echo": {"type": "object", "description": "The arguments of the call."}}, "required": ["echo"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Echo", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:43:54.140184','01a1ef8b-1d81-72ea-b53c-9a52f0df08cb');
INSERT INTO "tool_versions" VALUES('01a1ef8b1dbe7051b791f3209e2899f0','85f568ed8cd35e11a508d3927f353e28',1,'{"name": "calculate_rsi", "tool_type": "builtin", "config": {"operation": "calculate_rsi"}, "input_schema": {"type": "object", "properties": {"prices": {"type": "array", "items": {"type": "number", "minimum": -1e+300, "maximum": 1e+300}, "minItems": 2, "maxItems": 100000, "description": "Closing prices, oldest first; at least period + 1.", "examples": [[44.34, 44.09, 44.15, 43.61, 44.33]]}, "period": {"type": "integer", "minimum": 1, "maximum": 99999, "default": 14, "description": "How many price changes are averaged; 14 is usual."}, "overbought": {"type": "number", "minimum": 0, "maximum": 100, "default": 70, "description": "The RSI from which on the answer''s `overbought` is true."}, "oversold": {"type": "number", "minimum": 0, "maximum": 100, "default": 30, "description": "The RSI down from which the answer''s `oversold` is true."}, "include_series": {"type": "boolean", "default": true, "description": "false leaves `series` out of the answer: shorter when only the last value matters."}}, "required": ["prices"], "examples": [{"prices": [44.34, 44.09, 44.15, 43.61, 44.33], "period": 3}]}, "description": "Calculates the relative strength index (RSI) of a series of prices, with Wilder''s smoothing, and says whether the last value is overbought or oversold. Give the closing prices oldest first, at least period + 1 of them; around 100 or more make the smoothing settle. It fetches no prices: you must have them already.", "output_schema": {"type": "object", "properties": {"rsi": {"type": "number", "minimum": 0, "maximum": 100, "description": "The RSI at the last price."}, "overbought": {"type": "boolean", "description": "Whether `rsi` is at or above the threshold."}, "oversold": {"type": "boolean", "description": "Whether `rsi` is at or below the threshold."}, "period": {"type": "integer", "description": "The period that was used."}, "series": {"type": "array", "items": {"type": ["number", "null"]}, "description": "The RSI at every price, as many as `prices`; null for the first `period` of them."}}, "required": ["rsi", "overbought", "oversold", "period"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Calculate RSI", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:43:54.140184','01a1ef8b-1d81-72ea-b53c-9a52f0df08cb');
INSERT INTO "tool_versions" VALUES('01a1ef8b1dbe707bac99fb6fdfb216dd','41a86778e8bd54c69de12c75630f7f9e',1,'{"name": "current_time", "tool_type": "builtin", "config": {"operation": "current_time"}, "input_schema": {"type": "object", "properties": {"timezone": {"type": "string", "maxLength": 64, "default": "UTC", "description": "An IANA time zone name.", "examples": ["UTC", "Europe/Berlin", "America/New_York"]}}, "examples": [{}, {"timezone": "Europe/Berlin"}]}, "description": "Returns the current date, time and weekday, in UTC or in the time zone you name. Call it whenever an answer depends on what day or time it is now; you cannot know that otherwise.", "output_schema": {"type": "object", "properties": {"iso": {"type": "string", "format": "date-time", "description": "ISO 8601, with the zone''s offset."}, "unix": {"type": "integer", "description": "Seconds since 1970-01-01T00:00:00Z."}, "timezone": {"type": "string", "description": "The time zone of `iso`, `date`, `time` and `weekday`."}, "abbreviation": {"type": ["string", "null"], "description": "What the zone is called now, such as CEST."}, "date": {"type": "string", "format": "date"}, "time": {"type": "string", "description": "HH:MM:SS, on a 24-hour clock."}, "weekday": {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]}}, "required": ["iso", "unix", "timezone", "date", "time", "weekday"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Current Time", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:43:54.140184','01a1ef8b-1d81-72ea-b53c-9a52f0df08cb');
INSERT INTO "tool_versions" VALUES('01a1ef8b1dbe70a2aa103bb030092190','9e60bc7b2e6952c6bbf20b00e3006074',1,'{"name": "json_query", "tool_type": "builtin", "config": {"operation": "json_query"}, "input_schema": {"type": "object", "properties": {"data": {"description": "The JSON value to query: an object or array, not a string with JSON in it."}, "query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The JMESPath expression.", "examples": ["items[0].name", "items[?price > `10`].{name: name, price: price}", "sort_by(items, &price)[-1]", "length(items)"]}}, "required": ["data", "query"], "examples": [{"data": {"items": [{"name": "a", "price": 5}, {"name": "b", "price": 20}]}, "query": "items[?price > `10`]"}]}, "description": "Selects, filters, sorts and reshapes parts of a JSON value with a JMESPath query, and returns what it finds; null where nothing matches. Use it to get a few values out of a large JSON result without copying it by hand. Numbers in a query stand in backticks (`10`), strings in single quotes (''red''). It has no arithmetic.", "output_schema": {"type": "object", "properties": {"result": {"description": "What the query selects; null where nothing matches."}}, "required": ["result"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "JSON Query", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:43:54.140184','01a1ef8b-1d81-72ea-b53c-9a52f0df08cb');
INSERT INTO "tool_versions" VALUES('01a1ef8b1dbe70ca9e6b6ec8e9e48d87','492cf430bf41555ebdbdf302bf383784',1,'{"name": "query_baseline", "tool_type": "internal", "config": {"handler": "query_baseline"}, "input_schema": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "query_type": {"type": "string", "enum": ["baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["finding_id", "composite_hash", "query_type"], "additionalProperties": false}, "description": "Whether a finding is known: new, recurring or resolved, since when and how often it was seen. Changes nothing.", "output_schema": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Query baseline", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:43:54.140184','01a1ef8b-1d81-72ea-b53c-9a52f0df08cb');
INSERT INTO "tool_versions" VALUES('01a1ef8b1dbe70f1a63db788e7d0af32','3d387905ae305c2882a8c97f9e4aa8d1',1,'{"name": "batch_baseline_query", "tool_type": "internal", "config": {"handler": "batch_baseline_query"}, "input_schema": {"type": "object", "properties": {"finding_ids": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "maxItems": 10000, "description": "What you call the findings"}, "composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "Their hashes, one for each of finding_ids in the same order"}, "query_type": {"type": "string", "enum": ["batch_baseline_check", "baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the same answer"}, "batch_size": {"type": "integer", "minimum": 1, "maximum": 10000, "description": "How many are looked up in one statement; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["finding_ids", "composite_hashes", "query_type"], "additionalProperties": false}, "description": "Whether each of up to 10,000 findings is known, in the order asked. Changes nothing.", "output_schema": {"type": "object", "properties": {"results": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}}}, "required": ["results"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Query baseline for many", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": 33554432, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:43:54.140184','01a1ef8b-1d81-72ea-b53c-9a52f0df08cb');
INSERT INTO "tool_versions" VALUES('01a1ef8b1dbe7117a066e877110b2111','86374af31257591dbc5f4666a9fd2d72',1,'{"name": "record_findings", "tool_type": "internal", "config": {"handler": "record_findings"}, "input_schema": {"type": "object", "properties": {"findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["finding_id", "composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "What was seen"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["findings"], "additionalProperties": false}, "description": "Keep that findings were seen, each time it is called once more; a resolved one that is seen again recurs.", "output_schema": {"type": "object", "properties": {"recorded": {"type": "integer", "minimum": 0}, "new": {"type": "integer", "minimum": 0}, "recurring": {"type": "integer", "minimum": 0}, "reopened": {"type": "integer", "minimum": 0}}, "required": ["recorded", "new", "recurring", "reopened"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Record findings", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:43:54.140184','01a1ef8b-1d81-72ea-b53c-9a52f0df08cb');
INSERT INTO "tool_versions" VALUES('01a1ef8b1dbe713bb3624341a8ac0485','42944903dad95a33ae7df27da4aa4324',1,'{"name": "resolve_findings", "tool_type": "internal", "config": {"handler": "resolve_findings"}, "input_schema": {"type": "object", "properties": {"composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "The hashes of the findings"}, "findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "The findings"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": [], "additionalProperties": false}, "description": "Mark findings resolved, until they are seen again; give composite_hashes or findings.", "output_schema": {"type": "object", "properties": {"resolved": {"type": "integer", "minimum": 0}, "already_resolved": {"type": "integer", "minimum": 0}, "unknown": {"type": "integer", "minimum": 0}}, "required": ["resolved", "already_resolved", "unknown"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Resolve findings", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:43:54.140184','01a1ef8b-1d81-72ea-b53c-9a52f0df08cb');
INSERT INTO "tool_versions" VALUES('01a1ef8b1eb07255b5e74c218d1ad144','01a1ef8b1e99733386254f3bdbbfa36d',1,'{"name": "kept", "tool_type": "mock", "config": {"mock_response": {"sky": "clear"}}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden kept", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": true, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:43:54.393193','01a1ef8b-1d81-72ea-b53c-9a52f0df08cb');
INSERT INTO "tool_versions" VALUES('01a1ef8b1ed97afd9f2988cc2799149e','01a1ef8b1ed07acb92d634a0f5f93326',1,'{"name": "limited", "tool_type": "mock", "config": {"mock_response": 1}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden limited", "output_schema": null, "rate_limit": {"max_calls": 1, "period": "hour", "burst": null, "scope": "caller"}, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:43:54.448639','01a1ef8b-1d81-72ea-b53c-9a52f0df08cb');
INSERT INTO "tool_versions" VALUES('01a1ef8b2274734cb7bf784524429c7a','01a1ef8b222f7cd6b3665511c0324655',1,'{"name": "note", "tool_type": "table", "config": {"tableName": "notes", "fields": [{"name": "text", "dataType": "text"}]}, "input_schema": {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"text": {"type": ["string", "null"]}}, "required": [], "additionalProperties": false}, "description": "Golden note", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "reject", "result_style": "detailed", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:43:55.311795','01a1ef8b-1d81-72ea-b53c-9a52f0df08cb');
INSERT INTO "tool_versions" VALUES('01a1ef8b22f47433b904161cfe522306','01a1ef8b22cd7fd68e01a384fbc75136',1,'{"name": "print", "tool_type": "python", "config": {"code": "def show(text: str) -> str:\n    print(''printed'', text)\n    return text\n"}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden print", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:43:55.469983','01a1ef8b-1d81-72ea-b53c-9a52f0df08cb');
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
INSERT INTO "tools" VALUES('4f56c6ab4df05007b19254f29c273c7e',1,'2026-11-18 16:43:54.140184','2026-11-18 16:43:54.140184',0,NULL,'01a1ef8b1d8172eab53c9a52f0df08cb','math_eval','Evaluates one arithmetic expression and returns the number. Use it for any calculation beyond trivial mental arithmetic instead of working it out yourself. Operators: + - * / // (floor division) % (modulo, not percent) ^ or ** (power) and ! (factorial). Constants: pi, e, tau. Functions: sqrt, cbrt, abs, round, floor, ceil, trunc, sign, exp, log, ln, log2, log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, min, max, sum, mean, pow, mod, gcd, lcm, factorial, hypot, degrees, radians. Angles are in radians; log is natural unless written log(x, base). There are no variables, comparisons, lists or units, and numbers are written without thousands separators.','builtin','{"operation": "math_eval"}','{"type": "object", "properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "The expression to evaluate.", "examples": ["2+2", "(1 + 0.05)^10 * 1000", "sqrt(3^2 + 4^2)", "sin(radians(30))"]}}, "required": ["expression"], "examples": [{"expression": "(1 + 0.05)^10 * 1000"}]}','{"type": "object", "properties": {"result": {"type": "number", "description": "The value; whole numbers beyond 64 bits are rounded to a floating-point number."}}, "required": ["result"]}',NULL,NULL,1,1,1,'Calculator','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('6b6d2eda2c7950659ce66502d73cc282',1,'2026-11-18 16:43:54.140184','2026-11-18 16:43:54.140184',0,NULL,'01a1ef8b1d8172eab53c9a52f0df08cb','echo','Returns exactly the arguments it was called with, under `echo`. Use it to check that tool calls work and how your arguments arrive; it does nothing else.','builtin','{"operation": "echo"}','{"type": "object", "additionalProperties": true, "examples": [{"message": "hello"}]}','{"type": "object", "properties": {"echo": {"type": "object", "description": "The arguments of the call."}}, "required": ["echo"]}',NULL,NULL,1,1,1,'Echo','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('85f568ed8cd35e11a508d3927f353e28',1,'2026-11-18 16:43:54.140184','2026-11-18 16:43:54.140184',0,NULL,'01a1ef8b1d8172eab53c9a52f0df08cb','calculate_rsi','Calculates the relative strength index (RSI) of a series of prices, with Wilder''s smoothing, and says whether the last value is overbought or oversold. Give the closing prices oldest first, at least period + 1 of them; around 100 or more make the smoothing settle. It fetches no prices: you must have them already.','builtin','{"operation": "calculate_rsi"}','{"type": "object", "properties": {"prices": {"type": "array", "items": {"type": "number", "minimum": -1e+300, "maximum": 1e+300}, "minItems": 2, "maxItems": 100000, "description": "Closing prices, oldest first; at least period + 1.", "examples": [[44.34, 44.09, 44.15, 43.61, 44.33]]}, "period": {"type": "integer", "minimum": 1, "maximum": 99999, "default": 14, "description": "How many price changes are averaged; 14 is usual."}, "overbought": {"type": "number", "minimum": 0, "maximum": 100, "default": 70, "description": "The RSI from which on the answer''s `overbought` is true."}, "oversold": {"type": "number", "minimum": 0, "maximum": 100, "default": 30, "description": "The RSI down from which the answer''s `oversold` is true."}, "include_series": {"type": "boolean", "default": true, "description": "false leaves `series` out of the answer: shorter when only the last value matters."}}, "required": ["prices"], "examples": [{"prices": [44.34, 44.09, 44.15, 43.61, 44.33], "period": 3}]}','{"type": "object", "properties": {"rsi": {"type": "number", "minimum": 0, "maximum": 100, "description": "The RSI at the last price."}, "overbought": {"type": "boolean", "description": "Whether `rsi` is at or above the threshold."}, "oversold": {"type": "boolean", "description": "Whether `rsi` is at or below the threshold."}, "period": {"type": "integer", "description": "The period that was used."}, "series": {"type": "array", "items": {"type": ["number", "null"]}, "description": "The RSI at every price, as many as `prices`; null for the first `period` of them."}}, "required": ["rsi", "overbought", "oversold", "period"]}',NULL,NULL,1,1,1,'Calculate RSI','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('41a86778e8bd54c69de12c75630f7f9e',1,'2026-11-18 16:43:54.140184','2026-11-18 16:43:54.140184',0,NULL,'01a1ef8b1d8172eab53c9a52f0df08cb','current_time','Returns the current date, time and weekday, in UTC or in the time zone you name. Call it whenever an answer depends on what day or time it is now; you cannot know that otherwise.','builtin','{"operation": "current_time"}','{"type": "object", "properties": {"timezone": {"type": "string", "maxLength": 64, "default": "UTC", "description": "An IANA time zone name.", "examples": ["UTC", "Europe/Berlin", "America/New_York"]}}, "examples": [{}, {"timezone": "Europe/Berlin"}]}','{"type": "object", "properties": {"iso": {"type": "string", "format": "date-time", "description": "ISO 8601, with the zone''s offset."}, "unix": {"type": "integer", "description": "Seconds since 1970-01-01T00:00:00Z."}, "timezone": {"type": "string", "description": "The time zone of `iso`, `date`, `time` and `weekday`."}, "abbreviation": {"type": ["string", "null"], "description": "What the zone is called now, such as CEST."}, "date": {"type": "string", "format": "date"}, "time": {"type": "string", "description": "HH:MM:SS, on a 24-hour clock."}, "weekday": {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]}}, "required": ["iso", "unix", "timezone", "date", "time", "weekday"]}',NULL,NULL,1,1,1,'Current Time','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('9e60bc7b2e6952c6bbf20b00e3006074',1,'2026-11-18 16:43:54.140184','2026-11-18 16:43:54.140184',0,NULL,'01a1ef8b1d8172eab53c9a52f0df08cb','json_query','Selects, filters, sorts and reshapes parts of a JSON value with a JMESPath query, and returns what it finds; null where nothing matches. Use it to get a few values out of a large JSON result without copying it by hand. Numbers in a query stand in backticks (`10`), strings in single quotes (''red''). It has no arithmetic.','builtin','{"operation": "json_query"}','{"type": "object", "properties": {"data": {"description": "The JSON value to query: an object or array, not a string with JSON in it."}, "query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The JMESPath expression.", "examples": ["items[0].name", "items[?price > `10`].{name: name, price: price}", "sort_by(items, &price)[-1]", "length(items)"]}}, "required": ["data", "query"], "examples": [{"data": {"items": [{"name": "a", "price": 5}, {"name": "b", "price": 20}]}, "query": "items[?price > `10`]"}]}','{"type": "object", "properties": {"result": {"description": "What the query selects; null where nothing matches."}}, "required": ["result"]}',NULL,NULL,1,1,1,'JSON Query','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('492cf430bf41555ebdbdf302bf383784',1,'2026-11-18 16:43:54.140184','2026-11-18 16:43:54.140184',0,NULL,'01a1ef8b1d8172eab53c9a52f0df08cb','query_baseline','Whether a finding is known: new, recurring or resolved, since when and how often it was seen. Changes nothing.','internal','{"handler": "query_baseline"}','{"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "query_type": {"type": "string", "enum": ["baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["finding_id", "composite_hash", "query_type"], "additionalProperties": false}','{"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}',NULL,NULL,1,1,1,'Query baseline','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('3d387905ae305c2882a8c97f9e4aa8d1',1,'2026-11-18 16:43:54.140184','2026-11-18 16:43:54.140184',0,NULL,'01a1ef8b1d8172eab53c9a52f0df08cb','batch_baseline_query','Whether each of up to 10,000 findings is known, in the order asked. Changes nothing.','internal','{"handler": "batch_baseline_query"}','{"type": "object", "properties": {"finding_ids": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "maxItems": 10000, "description": "What you call the findings"}, "composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "Their hashes, one for each of finding_ids in the same order"}, "query_type": {"type": "string", "enum": ["batch_baseline_check", "baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the same answer"}, "batch_size": {"type": "integer", "minimum": 1, "maximum": 10000, "description": "How many are looked up in one statement; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["finding_ids", "composite_hashes", "query_type"], "additionalProperties": false}','{"type": "object", "properties": {"results": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}}}, "required": ["results"], "additionalProperties": false}',NULL,NULL,1,1,1,'Query baseline for many','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,1,0,0,33554432,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('86374af31257591dbc5f4666a9fd2d72',1,'2026-11-18 16:43:54.140184','2026-11-18 16:43:54.140184',0,NULL,'01a1ef8b1d8172eab53c9a52f0df08cb','record_findings','Keep that findings were seen, each time it is called once more; a resolved one that is seen again recurs.','internal','{"handler": "record_findings"}','{"type": "object", "properties": {"findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["finding_id", "composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "What was seen"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["findings"], "additionalProperties": false}','{"type": "object", "properties": {"recorded": {"type": "integer", "minimum": 0}, "new": {"type": "integer", "minimum": 0}, "recurring": {"type": "integer", "minimum": 0}, "reopened": {"type": "integer", "minimum": 0}}, "required": ["recorded", "new", "recurring", "reopened"], "additionalProperties": false}',NULL,NULL,1,1,1,'Record findings','["baseline"]',NULL,'ignore','envelope',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('42944903dad95a33ae7df27da4aa4324',1,'2026-11-18 16:43:54.140184','2026-11-18 16:43:54.140184',0,NULL,'01a1ef8b1d8172eab53c9a52f0df08cb','resolve_findings','Mark findings resolved, until they are seen again; give composite_hashes or findings.','internal','{"handler": "resolve_findings"}','{"type": "object", "properties": {"composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "The hashes of the findings"}, "findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "The findings"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": [], "additionalProperties": false}','{"type": "object", "properties": {"resolved": {"type": "integer", "minimum": 0}, "already_resolved": {"type": "integer", "minimum": 0}, "unknown": {"type": "integer", "minimum": 0}}, "required": ["resolved", "already_resolved", "unknown"], "additionalProperties": false}',NULL,NULL,1,1,1,'Resolve findings','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,0,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('01a1ef8b1e99733386254f3bdbbfa36d',2,'2026-11-18 16:43:54.393193','2026-11-18 16:43:54.393193',0,NULL,'01a1ef8b1d8172eab53c9a52f0df08cb','kept','Golden kept','mock','{"mock_response": {"sky": "clear"}}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,1,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('01a1ef8b1ed07acb92d634a0f5f93326',3,'2026-11-18 16:43:54.448639','2026-11-18 16:43:54.448639',0,NULL,'01a1ef8b1d8172eab53c9a52f0df08cb','limited','Golden limited','mock','{"mock_response": 1}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,'{"max_calls": 1, "period": "hour", "burst": null, "scope": "caller"}',1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('01a1ef8b222f7cd6b3665511c0324655',8,'2026-11-18 16:43:55.311795','2026-11-18 16:43:55.311795',0,NULL,'01a1ef8b1d8172eab53c9a52f0df08cb','note','Golden note','table','{"tableName": "notes", "fields": [{"name": "text", "dataType": "text"}]}','{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"text": {"type": ["string", "null"]}}, "required": [], "additionalProperties": false}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'reject','detailed',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('01a1ef8b22cd7fd68e01a384fbc75136',9,'2026-11-18 16:43:55.469983','2026-11-18 16:43:55.469983',0,NULL,'01a1ef8b1d8172eab53c9a52f0df08cb','print','Golden print','python','{"code": "def show(text: str) -> str:\n    print(''printed'', text)\n    return text\n"}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel');
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
INSERT INTO "users" VALUES('01a1ef8b1d8172eab53c9a52f0df08cb',1,'2026-11-18 16:43:54.113173','2026-11-18 16:43:54.113173',0,NULL,'admin','admin');
INSERT INTO "users" VALUES('01a1ef8b20617f63b7c225880ec8327d',4,'2026-11-18 16:43:54.849954','2026-11-18 16:43:54.849954',0,NULL,'ada','member');
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
INSERT INTO "writers" VALUES(1,'01a1ef8b1dea7350a88fa3123480ba1b','vm',10129,'2026-11-18 16:43:54.284763','2026-11-18 16:44:07.179577',34,24,'6857dbe68e4c010b0f92f105bf30b5d5','903653094b07d6a4f629ea08abafdd74',3,'86cdf5feec560b511f0ba26fef0b075d','b1f1bc0697850008dea84ae1965294f9',24);
INSERT INTO "writers" VALUES(2,'01a1ef8b4ede760cacaef3f45c128758','vm',10554,'2026-11-18 16:44:06.767412','2026-11-18 16:44:07.067793',1,0,'','662d4833ff8d014901ca3103a7b4ed26',0,'','',0);
INSERT INTO "writers" VALUES(3,'01a1ef8b50067644b0a0fefb84ad6fe2','vm',10129,'2026-11-18 16:44:07.068405','2026-11-18 16:44:07.173760',2,1,'837fcaaf658915a73a36e1d4d09dacbf','08c19ff2676b5d0f956b431aabaf761a',0,'','',1);
INSERT INTO "writers" VALUES(4,'01a1ef8b704e79d4a8056604833c7012','vm',10917,'2026-11-18 16:44:15.354952','2026-11-18 16:44:15.374703',2,1,'29459e38c337501de3185d5306b2408c','a3c68cc8125f785f68b608ebf7a33ab5',0,'','',1);
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
