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
INSERT INTO "agents" VALUES('01a1ef8bd92f7399adb0f773e8fa6d3d',6,'2026-11-18 16:44:42.159220','2026-11-18 16:44:42.159220',0,NULL,'01a1ef8bd92070a4a86a205036445aff','helper',NULL,'[]');
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0008_thread_agents');
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
INSERT INTO "api_keys" VALUES('01a1ef8bd3e9796287eb560ad8b0760e',1,'2026-11-18 16:44:40.808354','01a1ef8bd3e273dba756f8752af5ff7a','PEGBOARD_ADMIN_KEY','the-admi','4a926f4e9b4574181ccf97e68f1d57c3ea45a7338d224f150304f020afd0e98b',NULL,NULL,NULL);
INSERT INTO "api_keys" VALUES('01a1ef8bd9277874abd6a6e5bacdc81b',5,'2026-11-18 16:44:42.151524','01a1ef8bd92070a4a86a205036445aff','laptop','pb_Iosmt','a68463bec378f6b40122d567e204df702137c7dfd9e1033b7ed91c99f0f1ba84',NULL,NULL,NULL);
INSERT INTO "api_keys" VALUES('01a1ef8bd93b7da9807eac3a73731520',7,'2026-11-18 16:44:42.171849','01a1ef8bd92070a4a86a205036445aff','robot','pb_AzC-Q','8616749b574ab341335709685fb5e76eddc74338fc4653734d3531dff42d037f','01a1ef8bd92f7399adb0f773e8fa6d3d',NULL,NULL);
CREATE TABLE board_state (
	id INTEGER NOT NULL, 
	revision BIGINT NOT NULL, writers INTEGER DEFAULT '0' NOT NULL, writers_signature VARCHAR(32) DEFAULT '' NOT NULL, 
	CONSTRAINT pk_board_state PRIMARY KEY (id), 
	CONSTRAINT ck_board_state_single CHECK (id = 1)
);
INSERT INTO "board_state" VALUES(1,12,4,'750135749d4b4f88e455f3aff2f729dd');
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
INSERT INTO "execution_counts" VALUES(498616,'','','refused','tool_not_found',59,1);
INSERT INTO "execution_counts" VALUES(498616,'','','refused','tool_not_found',70,1);
INSERT INTO "execution_counts" VALUES(498616,'','dies','in_doubt','in_doubt',96,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',76,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',78,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',81,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',84,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',85,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',86,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',87,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',109,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',158,1);
INSERT INTO "execution_counts" VALUES(498616,'','fails','failed','execution_failed',121,1);
INSERT INTO "execution_counts" VALUES(498616,'','kept','refused','missing',99,1);
INSERT INTO "execution_counts" VALUES(498616,'','kept','succeeded','',102,1);
INSERT INTO "execution_counts" VALUES(498616,'','limited','refused','rate_limited',70,1);
INSERT INTO "execution_counts" VALUES(498616,'','limited','succeeded','',97,1);
INSERT INTO "execution_counts" VALUES(498616,'','math_eval','failed','execution_failed',96,1);
INSERT INTO "execution_counts" VALUES(498616,'','math_eval','succeeded','',95,1);
INSERT INTO "execution_counts" VALUES(498616,'','note','succeeded','',185,1);
INSERT INTO "execution_counts" VALUES(498616,'','once','refused','idempotency_conflict',149,1);
INSERT INTO "execution_counts" VALUES(498616,'','once','succeeded','',167,2);
INSERT INTO "execution_counts" VALUES(498616,'','print','succeeded','',248,1);
INSERT INTO "execution_counts" VALUES(498616,'','replaced','succeeded','',160,1);
INSERT INTO "execution_counts" VALUES(498616,'','tried','failed','contract_violation',166,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','','refused','tool_not_found',59,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','dies','in_doubt','in_doubt',96,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','echo','succeeded','',76,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','echo','succeeded','',81,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','echo','succeeded','',85,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','echo','succeeded','',86,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','echo','succeeded','',87,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','echo','succeeded','',109,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','echo','succeeded','',158,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','fails','failed','execution_failed',121,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','kept','refused','missing',99,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','kept','succeeded','',102,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','limited','refused','rate_limited',70,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','limited','succeeded','',97,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','math_eval','failed','execution_failed',96,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','math_eval','succeeded','',95,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','note','succeeded','',185,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','once','refused','idempotency_conflict',149,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','once','succeeded','',167,2);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','print','succeeded','',248,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','replaced','succeeded','',160,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','tried','failed','contract_violation',166,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-d920-70a4-a86a-205036445aff','','refused','tool_not_found',70,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-d920-70a4-a86a-205036445aff','echo','succeeded','',78,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8b-d920-70a4-a86a-205036445aff','echo','succeeded','',84,1);
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
INSERT INTO "executions" VALUES('01a1ef8bd5f071479728f02c6f67e874','echo','succeeded','2026-11-18 16:44:41.328075','2026-11-18 16:44:41.328275',0.163,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef8b-d5f0-7147-9728-f02c6f67e874',NULL,NULL,'7d2a4b251136d59383024e4d92c25cf4',NULL,NULL,NULL,NULL,NULL,NULL,1,4,'4793b2d951252a658700558ea0eb1829',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8bd5f2760b91d0df5182f18ac3','kept','succeeded','2026-11-18 16:44:41.330374','2026-11-18 16:44:41.330857',0.453,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','admin','library','plain',1,'01a1ef8b-d5bc-73d0-9613-753603cf0bc1',1,'mock',NULL,NULL,'01a1ef8b-d5f2-760b-91d0-df5182f18ac3',NULL,NULL,'59e7e1bb8ebbf9d169227616f69c3c7b','{"text":"a ☃ and a 😀, \"quoted\", \\ and a\nline","number":-1.5e+300}',NULL,NULL,NULL,NULL,NULL,1,5,'fcc6b6e935129390fc99177068571b38',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8bd5f37de59f3af057961788a1','fails','failed','2026-11-18 16:44:41.331865','2026-11-18 16:44:41.333252',1.364,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','admin','library','plain',1,'292d6f6c-a238-532d-ba7c-02469f556f4e',1,'internal',NULL,NULL,'01a1ef8b-d5f3-7de5-9f3a-f057961788a1','execution_failed','cannot do a ☃ and a 😀, "quoted", \ and a
line','7d2a4b251136d59383024e4d92c25cf4',NULL,NULL,NULL,NULL,NULL,NULL,1,6,'1f19aaa31b94dd62232f39c9bffc1a51',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8bd5f6721eae1ef0372ebf2845','math_eval','failed','2026-11-18 16:44:41.334129','2026-11-18 16:44:41.334457',0.31,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','admin','library','plain',1,'4f56c6ab-4df0-5007-b192-54f29c273c7e',1,'builtin',NULL,NULL,'01a1ef8b-d5f6-721e-ae1e-f0372ebf2845','execution_failed','Division by zero at position 2; change the divisor','a8e97e4dabc1706661cffa12c502bc54',NULL,NULL,NULL,NULL,NULL,NULL,1,7,'31a35a56c0386eaacfeef98af9321297',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8bd5f77ca48c7fdd55fd878ee2','kept','refused','2026-11-18 16:44:41.335787','2026-11-18 16:44:41.336169',0.36,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','admin','library','plain',0,'01a1ef8b-d5bc-73d0-9613-753603cf0bc1',1,'mock',NULL,NULL,'01a1ef8b-d5f7-7ca4-8c7f-dd55fd878ee2','missing','Invalid parameters: missing ''text''',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,8,'508e453177a2ab996fe7fbbe40816896',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8bd5f9743facec8d7de2d11c61','no_such_tool','refused','2026-11-18 16:44:41.337263','2026-11-18 16:44:41.337313',0.033,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','admin','library','plain',0,NULL,NULL,NULL,NULL,NULL,'01a1ef8b-d5f9-743f-acec-8d7de2d11c61','tool_not_found','Tool ''no_such_tool'' not found',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,9,'e1c0bf8d2d6d8f0a7e7d58b8741fa8d2',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8bd5fa7ac7b12581abab2118bd','limited','succeeded','2026-11-18 16:44:41.338671','2026-11-18 16:44:41.339011',0.327,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','admin','library','plain',1,'01a1ef8b-d5da-765f-8aca-de4b16fa5842',1,'mock',NULL,NULL,'01a1ef8b-d5fa-7ac7-b125-81abab2118bd',NULL,NULL,'680c892f90f70f2f8a0f10a9ebdf26ec',NULL,NULL,NULL,NULL,NULL,NULL,1,10,'f4b0313f062db07be30ea0ffda62747d',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8bd5fc70a5b6e9fdaeda54a58b','limited','refused','2026-11-18 16:44:41.340038','2026-11-18 16:44:41.340114',0.063,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','admin','library','plain',0,'01a1ef8b-d5da-765f-8aca-de4b16fa5842',1,'mock',NULL,NULL,'01a1ef8b-d5fc-70a5-b6e9-fdaeda54a58b','rate_limited','Rate limit of ''limited'' reached: 1 call per hour; try again in 3600 s','0bb927ceb2e5b799d45080b95e9926a9',NULL,NULL,NULL,NULL,NULL,NULL,1,11,'7a62d30216e28598ace23fc9a80c6854',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8bd9647844a183789b484a16fc','echo','succeeded','2026-11-18 16:44:42.212512','2026-11-18 16:44:42.212695',0.15,'01a1ef8b-d920-70a4-a86a-205036445aff','ada','rest','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin','01a1ef8b-d927-7874-abd6-a6e5bacdc81b',NULL,'request-1',NULL,NULL,'31a13fbac6157f2ca9e5bb3c69d8bdc8',NULL,NULL,NULL,NULL,NULL,NULL,1,12,'8060866df48dfdcd3333dbfe8fe5dfc6',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8bd97d7829b8ec9445a623030d','echo','refused','2026-11-18 16:44:42.237504','2026-11-18 16:44:42.237599',0.066,'01a1ef8b-d920-70a4-a86a-205036445aff','ada','rest','plain',0,NULL,NULL,NULL,'01a1ef8b-d93b-7da9-807e-ac3a73731520','01a1ef8b-d92f-7399-adb0-f773e8fa6d3d','01a1ef8b-d97d-7829-b8ec-9445a623030d','tool_not_found','Tool ''echo'' not found',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,13,'8f0df9fb178b91a7b0ebe8a8372195d5',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8bd9867b0094ce91b83aeb7ede','echo','succeeded','2026-11-18 16:44:42.246683','2026-11-18 16:44:42.246816',0.106,'01a1ef8b-d920-70a4-a86a-205036445aff','ada','rest','openai_chat',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin','01a1ef8b-d927-7874-abd6-a6e5bacdc81b',NULL,'01a1ef8b-d986-75ad-b5e6-af556a8fe49d',NULL,NULL,'3c30e303fa51518df28d9357af8cddfd',NULL,NULL,NULL,NULL,NULL,NULL,1,14,'7ec88807983cce7289f592166c9c9078',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8bd99b7046aee3f5fcefd5d5e0','once','succeeded','2026-11-18 16:44:42.267014','2026-11-18 16:44:42.288977',21.922,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','admin','library','plain',1,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1ef8b-d99b-7046-aee3-f5fcefd5d5e0',NULL,NULL,'60d94a199e2835f37265956bd236180a',NULL,NULL,NULL,NULL,NULL,'"A"',1,15,'703c7955fab2b3d38e75821a6c3060f7',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8bd9c075588aaf806d56e2f5f4','once','succeeded','2026-11-18 16:44:42.304327','2026-11-18 16:44:42.314172',21.922,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','admin','library','plain',0,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1ef8b-d9c0-7558-8aaf-806d56e2f5f4',NULL,NULL,'60d94a199e2835f37265956bd236180a',NULL,NULL,NULL,NULL,'01a1ef8b-d99b-7046-aee3-f5fcefd5d5e0','"A"',1,16,'eee4a1a8b7f19bd203cefaaf754bf546',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8bd9d87ae3898d5f147037671f','once','refused','2026-11-18 16:44:42.328672','2026-11-18 16:44:42.336367',7.65,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','admin','library','plain',0,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1ef8b-d9d8-7ae3-898d-5f147037671f','idempotency_conflict','This idempotency key was used for ''once'' with other arguments; send the same arguments again, or a new key for a new call','3c18c32e81881609bf6f3406f673f024',NULL,NULL,NULL,NULL,NULL,NULL,1,17,'4d45832e926190d02f2948408cf8679c',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8bda0076bfb38e51e641b5fe77','tried','failed','2026-11-18 16:44:42.368414','2026-11-18 16:44:42.388529',20.076,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','admin','library','plain',2,'47fe7a73-0ae4-5d70-aa28-58a231407683',1,'internal',NULL,NULL,'01a1ef8b-da00-76bf-b38e-51e641b5fe77','contract_violation','The tool''s output breaks its output schema: The output must be an integer','6735d8ebe7eb4ae668f8a36dc6c96d82',NULL,NULL,NULL,NULL,NULL,NULL,1,18,'5b8e7f0ced63dab80ef03db61d0def6b',NULL,'[{"attempt":1,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":0.839},{"attempt":2,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":0.222}]');
INSERT INTO "executions" VALUES('01a1ef8bda2476b1a0633f2de0a4f69f','replaced','succeeded','2026-11-18 16:44:42.404411','2026-11-18 16:44:42.418670',14.229,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','admin','library','plain',2,'0b58c42c-a575-56ea-8e61-45f3fdeaeca4',1,'internal',NULL,NULL,'01a1ef8b-da24-76b1-a063-3f2de0a4f69f',NULL,NULL,'6735d8ebe7eb4ae668f8a36dc6c96d82',NULL,NULL,NULL,NULL,NULL,NULL,1,19,'87ccebabf9e79ee0cb002f5eb2b65542',NULL,'[{"attempt":1,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":0.743},{"attempt":2,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":1.985}]');
INSERT INTO "executions" VALUES('01a1ef8bda7d73c0b769c46caf91e1ac','note','succeeded','2026-11-18 16:44:42.493227','2026-11-18 16:44:42.559121',65.841,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','admin','library','plain',1,'01a1ef8b-da54-74eb-833a-d257c6c3c18f',1,'table',NULL,NULL,'01a1ef8b-da7d-73c0-b769-c46caf91e1ac',NULL,NULL,'374b515fca824d8cd334b96ff65f9eaa',NULL,'1',NULL,NULL,NULL,NULL,1,20,'dffd215f153bb863f3dfb829f6eee13d',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8bdac47561a3325a4c9b94fde7','print','succeeded','2026-11-18 16:44:42.564331','2026-11-18 16:44:45.325128',2760.751,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','admin','library','plain',1,'01a1ef8b-da6d-7773-85ff-46c2330e31df',1,'python',NULL,NULL,'01a1ef8b-dac4-7561-a332-5a4c9b94fde7',NULL,NULL,'6debdb64aed62b20600244a2c32bed68',NULL,NULL,NULL,NULL,NULL,NULL,1,21,'0df8724795fddfeaf8fa100ca9ede74e','printed text
',NULL);
INSERT INTO "executions" VALUES('01a1ef8be5e87f3fb6bdbb1b97ef9612','math_eval','succeeded','2026-11-18 16:44:45.416982','2026-11-18 16:44:45.417312',0.297,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','admin','library','plain',1,'4f56c6ab-4df0-5007-b192-54f29c273c7e',1,'builtin',NULL,NULL,'01a1ef8b-e5e8-7f3f-b6bd-bb1b97ef9612',NULL,NULL,'9e2b5d4756f14c1e2ad0e1e934c2de80',NULL,NULL,'01a1ef8b-e5e8-7b56-b35b-9063edafd37d',NULL,NULL,NULL,1,22,'509844a3a0774c065918c833587686f7',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8be5f377c088f7da41825e6045','echo','succeeded','2026-11-18 16:44:45.427514','2026-11-18 16:44:45.427625',0.091,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef8b-e5f3-77c0-88f7-da41825e6045',NULL,NULL,'6b3f8849c87ee74019d65523605093ad',NULL,NULL,'01a1ef8b-e5e8-7b56-b35b-9063edafd37d',NULL,NULL,NULL,1,23,'b24319f77c0350c73cea9a2e63ee77ad',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8be61b7ef3baf54b06823c004b','echo','succeeded','2026-11-18 16:44:45.467930','2026-11-18 16:44:45.468082',0.122,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef8b-e61b-7ef3-baf5-4b06823c004b',NULL,NULL,'27019fee4d98d14e817ddf9e02a08270',NULL,NULL,NULL,'01a1ef8b-e606-7d40-9423-4cdf33460f6d',NULL,NULL,1,24,'54a77b34dc2b104565a8b17dab24e98e',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8c137977d7b26cb5f113b26c02','dies','in_doubt','2026-11-18 16:44:57.081486','2026-11-18 16:44:57.536477',0.305,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','admin','library','plain',1,'301f3051-930d-5d5d-ae86-e078a5b82b33',1,'internal',NULL,NULL,'01a1ef8c-1379-77d7-b26c-b5f113b26c02','in_doubt','The server ended while this call was running; whether it took effect is not known','6735d8ebe7eb4ae668f8a36dc6c96d82',NULL,NULL,NULL,NULL,NULL,NULL,3,1,'30111fe79a7d80db1a4d650bbff25745',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8c66507466b55e6610c01b5e77','echo','succeeded','2026-11-18 16:45:18.288265','2026-11-18 16:45:18.300718',12.394,'01a1ef8b-d3e2-73db-a756-f8752af5ff7a','admin','cli','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef8c-6650-7466-b55e-6610c01b5e77',NULL,NULL,'0107d3d97fb39a76618b42404c4a5206',NULL,NULL,NULL,NULL,NULL,NULL,4,1,'334a264bc4f2d8c5d81a6b92f2456410',NULL,NULL);
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
INSERT INTO "intents" VALUES('01a1ef8bd99b7046aee3f5fcefd5d5e0',1,'done','',0,'61e6ce415eeb3900b067cc499c42733bbf648a46641aa5d9b25bf7202c921bbb','60d94a199e2835f37265956bd236180a','pb1:b3457b1d:gr4-e3b9M3IxZJnZ_O_h-0-OotxWrb1m4K8Yu5-jYZFpM2pkgl9jFlizMZ3XYHRF5OYePoGAGlAT-dNbjWUgFyIdTolDdEKTpsKqtPjUEgwEywq9DqsZq8hyaehWv0E3cCav1TTugHnTkz6XabAnYIU1QyLrfwsikeK4fGz6wR1ChWauvr_sMg','2026-11-19 16:44:42.267254');
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
INSERT INTO "messages" VALUES('01a1ef8be6067d4094234cdf33460f6d',0,'01a1ef8be63374b7a74434c2a1210990','assistant',NULL,'2026-11-18 16:44:45.488775','[{"id":"call_01a1ef8be61b7ef3baf54b06823c004b","name":"echo","arguments":{"text":"thread"},"result":{"echo":{"text":"thread"}},"duration_ms":0.122,"attempts":1,"run_id":"01a1ef8b-e61b-7ef3-baf5-4b06823c004b","result_valid":true}]','plain',NULL);
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
INSERT INTO "secrets" VALUES('01a1ef8bd3e57211be5c554e987eb073',1,'2026-11-18 16:44:40.805125','2026-11-18 16:44:40.805125','01a1ef8bd3e273dba756f8752af5ff7a','$root','pb1:b3457b1d:y32QTcvG-t3GU87AAaLyZuaeotlIl1gKiWX8MX9ev63d46_urreNY11a_0nQkGT_RTTsvmY2UIVsKe0xZ4RWobrVz_RaUypR');
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
INSERT INTO "threads" VALUES('01a1ef8be6067d4094234cdf33460f6d','01a1ef8bd3e273dba756f8752af5ff7a','golden',1,'2026-11-18 16:44:45.446822','2026-11-18 16:44:45.489020',NULL);
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
INSERT INTO "tool_versions" VALUES('01a1ef8bd3f07dd88f34f29945826098','4f56c6ab4df05007b19254f29c273c7e',1,'{"name": "math_eval", "tool_type": "builtin", "config": {"operation": "math_eval"}, "input_schema": {"type": "object", "properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "The expression to evaluate.", "examples": ["2+2", "(1 + 0.05)^10 * 1000", "sqrt(3^2 + 4^2)", "sin(radians(30))"]}}, "required": ["expression"], "examples": [{"expression": "(1 + 0.05)^10 * 1000"}]}, "description": "Evaluates one arithmetic expression and returns the number. Use it for any calculation beyond trivial mental arithmetic instead of working it out yourself. Operators: + - * / // (floor division) % (modulo, not percent) ^ or ** (power) and ! (factorial). Constants: pi, e, tau. Functions: sqrt, cbrt, abs, round, floor, ceil, trunc, sign, exp, log, ln, log2, log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, min, max, sum, mean, pow, mod, gcd, lcm, factorial, hypot, degrees, radians. Angles are in radians; log is natural unless written log(x, base). There are no variables, comparisons, lists or units, and numbers are written without thousands separators.", "output_schema": {"type": "object", "properties": {"result": {"type": "number", "description": "The value; whole numbers beyond 64 bits are rounded to a floating-point number."}}, "required": ["result"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Calculator", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:44:40.810683','01a1ef8b-d3e2-73db-a756-f8752af5ff7a');
INSERT INTO "tool_versions" VALUES('01a1ef8bd3f07e7ebc3cbc91e54407b5','6b6d2eda2c7950659ce66502d73cc282',1,'{"name": "echo", "tool_type": "builtin", "config": {"operation": "echo"}, "input_schema": {"type": "object", "additionalProperties": true, "examples": [{"message": "hello"}]}, "description": "Returns exactly the arguments it was called with, under `echo`. Use it to check that tool calls work and how your arguments arrive; it does nothing else.", "output_schema": {"type": "object", "properties": {"echo": {"type": "object", "description": "The arguments of the call."}}, "required": ["echo"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Echo", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:44:40.810683','01a1ef8b-d3e2-73db-a756-f8752af5ff7a');
INSERT INTO "tool_versions" VALUES('01a1ef8bd3f07eab8e6e99f757bd3ac4','85f568ed8cd35e11a508d3927f353e28',1,'{"name": "calculate_rsi", "tool_type": "builtin", "config": {"operation": "calculate_rsi"}, "input_schema": {"type": "object", "properties": {"prices": {"type": "array", "items": {"type": "number", "minimum": -1e+300, "maximum": 1e+300}, "minItems": 2, "maxItems": 100000, "description": "Closing prices, oldest first; at least period + 1.", "examples": [[44.34, 44.09, 44.15, 43.61, 44.33]]}, "period": {"type": "integer", "minimum": 1, "maximum": 99999, "default": 14, "description": "How many price changes are averaged; 14 is usual."}, "overbought": {"type": "number", "minimum": 0, "maximum": 100, "default": 70, "description": "The RSI from which on the answer''s `overbought` is true."}, "oversold": {"type": "number", "minimum": 0, "maximum": 100, "default": 30, "description": "The RSI down from which the answer''s `oversold` is true."}, "include_series": {"type": "boolean", "default": true, "description": "false leaves `series` out of the answer: shorter when only the last value matters."}}, "required": ["prices"], "examples": [{"prices": [44.34, 44.09, 44.15, 43.61, 44.33], "period": 3}]}, "description": "Calculates the relative strength index (RSI) of a series of prices, with Wilder''s smoothing, and says whether the last value is overbought or oversold. Give the closing prices oldest first, at least period + 1 of them; around 100 or more make the smoothing settle. It fetches no prices: you must have them already.", "output_schema": {"type": "object", "properties": {"rsi": {"type": "number", "minimum": 0, "maximum": 100, "description": "The RSI at the last price."}, "overbought": {"type": "boolean", "description": "Whether `rsi` is at or above the threshold."}, "oversold": {"type": "boolean", "description": "Whether `rsi` is at or below the threshold."}, "period": {"type": "integer", "description": "The period that was used."}, "series": {"type": "array", "items": {"type": ["number", "null"]}, "description": "The RSI at every price, as many as `prices`; null for the first `period` of them."}}, "required": ["rsi", "overbought", "oversold", "period"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Calculate RSI", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:44:40.810683','01a1ef8b-d3e2-73db-a756-f8752af5ff7a');
INSERT INTO "tool_versions" VALUES('01a1ef8bd3f07ecc82f0a3b24ff4f1f2','41a86778e8bd54c69de12c75630f7f9e',1,'{"name": "current_time", "tool_type": "builtin", "config": {"operation": "current_time"}, "input_schema": {"type": "object", "properties": {"timezone": {"type": "string", "maxLength": 64, "default": "UTC", "description": "An IANA time zone name.", "examples": ["UTC", "Europe/Berlin", "America/New_York"]}}, "examples": [{}, {"timezone": "Europe/Berlin"}]}, "description": "Returns the current date, time and weekday, in UTC or in the time zone you name. Call it whenever an answer depends on what day or time it is now; you cannot know that otherwise.", "output_schema": {"type": "object", "properties": {"iso": {"type": "string", "format": "date-time", "description": "ISO 8601, with the zone''s offset."}, "unix": {"type": "integer", "description": "Seconds since 1970-01-01T00:00:00Z."}, "timezone": {"type": "string", "description": "The time zone of `iso`, `date`, `time` and `weekday`."}, "abbreviation": {"type": ["string", "null"], "description": "What the zone is called now, such as CEST."}, "date": {"type": "string", "format": "date"}, "time": {"type": "string", "description": "HH:MM:SS, on a 24-hour clock."}, "weekday": {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]}}, "required": ["iso", "unix", "timezone", "date", "time", "weekday"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Current Time", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:44:40.810683','01a1ef8b-d3e2-73db-a756-f8752af5ff7a');
INSERT INTO "tool_versions" VALUES('01a1ef8bd3f07eef8a96b16b392ee235','9e60bc7b2e6952c6bbf20b00e3006074',1,'{"name": "json_query", "tool_type": "builtin", "config": {"operation": "json_query"}, "input_schema": {"type": "object", "properties": {"data": {"description": "The JSON value to query: an object or array, not a string with JSON in it."}, "query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The JMESPath expression.", "examples": ["items[0].name", "items[?price > `10`].{name: name, price: price}", "sort_by(items, &price)[-1]", "length(items)"]}}, "required": ["data", "query"], "examples": [{"data": {"items": [{"name": "a", "price": 5}, {"name": "b", "price": 20}]}, "query": "items[?price > `10`]"}]}, "description": "Selects, filters, sorts and reshapes parts of a JSON value with a JMESPath query, and returns what it finds; null where nothing matches. Use it to get a few values out of a large JSON result without copying it by hand. Numbers in a query stand in backticks (`10`), strings in single quotes (''red''). It has no arithmetic.", "output_schema": {"type": "object", "properties": {"result": {"description": "What the query selects; null where nothing matches."}}, "required": ["result"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "JSON Query", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:44:40.810683','01a1ef8b-d3e2-73db-a756-f8752af5ff7a');
INSERT INTO "tool_versions" VALUES('01a1ef8bd3f07f1297ed4e24ea3cfab7','492cf430bf41555ebdbdf302bf383784',1,'{"name": "query_baseline", "tool_type": "internal", "config": {"handler": "query_baseline"}, "input_schema": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "query_type": {"type": "string", "enum": ["baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["finding_id", "composite_hash", "query_type"], "additionalProperties": false}, "description": "Whether a finding is known: new, recurring or resolved, since when and how often it was seen. Changes nothing.", "output_schema": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Query baseline", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:44:40.810683','01a1ef8b-d3e2-73db-a756-f8752af5ff7a');
INSERT INTO "tool_versions" VALUES('01a1ef8bd3f07f31a1b75fe60cca2115','3d387905ae305c2882a8c97f9e4aa8d1',1,'{"name": "batch_baseline_query", "tool_type": "internal", "config": {"handler": "batch_baseline_query"}, "input_schema": {"type": "object", "properties": {"finding_ids": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "maxItems": 10000, "description": "What you call the findings"}, "composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "Their hashes, one for each of finding_ids in the same order"}, "query_type": {"type": "string", "enum": ["batch_baseline_check", "baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the same answer"}, "batch_size": {"type": "integer", "minimum": 1, "maximum": 10000, "description": "How many are looked up in one statement; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["finding_ids", "composite_hashes", "query_type"], "additionalProperties": false}, "description": "Whether each of up to 10,000 findings is known, in the order asked. Changes nothing.", "output_schema": {"type": "object", "properties": {"results": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}}}, "required": ["results"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Query baseline for many", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": 33554432, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:44:40.810683','01a1ef8b-d3e2-73db-a756-f8752af5ff7a');
INSERT INTO "tool_versions" VALUES('01a1ef8bd3f07f50846f702bdd5f1744','86374af31257591dbc5f4666a9fd2d72',1,'{"name": "record_findings", "tool_type": "internal", "config": {"handler": "record_findings"}, "input_schema": {"type": "object", "properties": {"findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["finding_id", "composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "What was seen"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["findings"], "additionalProperties": false}, "description": "Keep that findings were seen, each time it is called once more; a resolved one that is seen again recurs.", "output_schema": {"type": "object", "properties": {"recorded": {"type": "integer", "minimum": 0}, "new": {"type": "integer", "minimum": 0}, "recurring": {"type": "integer", "minimum": 0}, "reopened": {"type": "integer", "minimum": 0}}, "required": ["recorded", "new", "recurring", "reopened"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Record findings", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:44:40.810683','01a1ef8b-d3e2-73db-a756-f8752af5ff7a');
INSERT INTO "tool_versions" VALUES('01a1ef8bd3f07f749b371fa4759ab108','42944903dad95a33ae7df27da4aa4324',1,'{"name": "resolve_findings", "tool_type": "internal", "config": {"handler": "resolve_findings"}, "input_schema": {"type": "object", "properties": {"composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "The hashes of the findings"}, "findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "The findings"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": [], "additionalProperties": false}, "description": "Mark findings resolved, until they are seen again; give composite_hashes or findings.", "output_schema": {"type": "object", "properties": {"resolved": {"type": "integer", "minimum": 0}, "already_resolved": {"type": "integer", "minimum": 0}, "unknown": {"type": "integer", "minimum": 0}}, "required": ["resolved", "already_resolved", "unknown"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Resolve findings", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:44:40.810683','01a1ef8b-d3e2-73db-a756-f8752af5ff7a');
INSERT INTO "tool_versions" VALUES('01a1ef8bd5c478bbad5daf631ae6eec8','01a1ef8bd5bc73d09613753603cf0bc1',1,'{"name": "kept", "tool_type": "mock", "config": {"mock_response": {"sky": "clear"}}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden kept", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": true, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:44:41.276233','01a1ef8b-d3e2-73db-a756-f8752af5ff7a');
INSERT INTO "tool_versions" VALUES('01a1ef8bd5e27e96bfa95ce2a1c035fa','01a1ef8bd5da765f8acade4b16fa5842',1,'{"name": "limited", "tool_type": "mock", "config": {"mock_response": 1}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden limited", "output_schema": null, "rate_limit": {"max_calls": 1, "period": "hour", "burst": null, "scope": "caller"}, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:44:41.306392','01a1ef8b-d3e2-73db-a756-f8752af5ff7a');
INSERT INTO "tool_versions" VALUES('01a1ef8bda6075e8ae47541c14e8e806','01a1ef8bda5474eb833ad257c6c3c18f',1,'{"name": "note", "tool_type": "table", "config": {"tableName": "notes", "fields": [{"name": "text", "dataType": "text"}]}, "input_schema": {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"text": {"type": ["string", "null"]}}, "required": [], "additionalProperties": false}, "description": "Golden note", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "reject", "result_style": "detailed", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:44:42.452297','01a1ef8b-d3e2-73db-a756-f8752af5ff7a');
INSERT INTO "tool_versions" VALUES('01a1ef8bda7173a3977facc862d61e73','01a1ef8bda6d777385ff46c2330e31df',1,'{"name": "print", "tool_type": "python", "config": {"code": "def show(text: str) -> str:\n    print(''printed'', text)\n    return text\n"}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden print", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:44:42.477428','01a1ef8b-d3e2-73db-a756-f8752af5ff7a');
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
INSERT INTO "tools" VALUES('4f56c6ab4df05007b19254f29c273c7e',1,'2026-11-18 16:44:40.810683','2026-11-18 16:44:40.810683',0,NULL,'01a1ef8bd3e273dba756f8752af5ff7a','math_eval','Evaluates one arithmetic expression and returns the number. Use it for any calculation beyond trivial mental arithmetic instead of working it out yourself. Operators: + - * / // (floor division) % (modulo, not percent) ^ or ** (power) and ! (factorial). Constants: pi, e, tau. Functions: sqrt, cbrt, abs, round, floor, ceil, trunc, sign, exp, log, ln, log2, log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, min, max, sum, mean, pow, mod, gcd, lcm, factorial, hypot, degrees, radians. Angles are in radians; log is natural unless written log(x, base). There are no variables, comparisons, lists or units, and numbers are written without thousands separators.','builtin','{"operation": "math_eval"}','{"type": "object", "properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "The expression to evaluate.", "examples": ["2+2", "(1 + 0.05)^10 * 1000", "sqrt(3^2 + 4^2)", "sin(radians(30))"]}}, "required": ["expression"], "examples": [{"expression": "(1 + 0.05)^10 * 1000"}]}','{"type": "object", "properties": {"result": {"type": "number", "description": "The value; whole numbers beyond 64 bits are rounded to a floating-point number."}}, "required": ["result"]}',NULL,NULL,1,1,1,'Calculator','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('6b6d2eda2c7950659ce66502d73cc282',1,'2026-11-18 16:44:40.810683','2026-11-18 16:44:40.810683',0,NULL,'01a1ef8bd3e273dba756f8752af5ff7a','echo','Returns exactly the arguments it was called with, under `echo`. Use it to check that tool calls work and how your arguments arrive; it does nothing else.','builtin','{"operation": "echo"}','{"type": "object", "additionalProperties": true, "examples": [{"message": "hello"}]}','{"type": "object", "properties": {"echo": {"type": "object", "description": "The arguments of the call."}}, "required": ["echo"]}',NULL,NULL,1,1,1,'Echo','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('85f568ed8cd35e11a508d3927f353e28',1,'2026-11-18 16:44:40.810683','2026-11-18 16:44:40.810683',0,NULL,'01a1ef8bd3e273dba756f8752af5ff7a','calculate_rsi','Calculates the relative strength index (RSI) of a series of prices, with Wilder''s smoothing, and says whether the last value is overbought or oversold. Give the closing prices oldest first, at least period + 1 of them; around 100 or more make the smoothing settle. It fetches no prices: you must have them already.','builtin','{"operation": "calculate_rsi"}','{"type": "object", "properties": {"prices": {"type": "array", "items": {"type": "number", "minimum": -1e+300, "maximum": 1e+300}, "minItems": 2, "maxItems": 100000, "description": "Closing prices, oldest first; at least period + 1.", "examples": [[44.34, 44.09, 44.15, 43.61, 44.33]]}, "period": {"type": "integer", "minimum": 1, "maximum": 99999, "default": 14, "description": "How many price changes are averaged; 14 is usual."}, "overbought": {"type": "number", "minimum": 0, "maximum": 100, "default": 70, "description": "The RSI from which on the answer''s `overbought` is true."}, "oversold": {"type": "number", "minimum": 0, "maximum": 100, "default": 30, "description": "The RSI down from which the answer''s `oversold` is true."}, "include_series": {"type": "boolean", "default": true, "description": "false leaves `series` out of the answer: shorter when only the last value matters."}}, "required": ["prices"], "examples": [{"prices": [44.34, 44.09, 44.15, 43.61, 44.33], "period": 3}]}','{"type": "object", "properties": {"rsi": {"type": "number", "minimum": 0, "maximum": 100, "description": "The RSI at the last price."}, "overbought": {"type": "boolean", "description": "Whether `rsi` is at or above the threshold."}, "oversold": {"type": "boolean", "description": "Whether `rsi` is at or below the threshold."}, "period": {"type": "integer", "description": "The period that was used."}, "series": {"type": "array", "items": {"type": ["number", "null"]}, "description": "The RSI at every price, as many as `prices`; null for the first `period` of them."}}, "required": ["rsi", "overbought", "oversold", "period"]}',NULL,NULL,1,1,1,'Calculate RSI','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('41a86778e8bd54c69de12c75630f7f9e',1,'2026-11-18 16:44:40.810683','2026-11-18 16:44:40.810683',0,NULL,'01a1ef8bd3e273dba756f8752af5ff7a','current_time','Returns the current date, time and weekday, in UTC or in the time zone you name. Call it whenever an answer depends on what day or time it is now; you cannot know that otherwise.','builtin','{"operation": "current_time"}','{"type": "object", "properties": {"timezone": {"type": "string", "maxLength": 64, "default": "UTC", "description": "An IANA time zone name.", "examples": ["UTC", "Europe/Berlin", "America/New_York"]}}, "examples": [{}, {"timezone": "Europe/Berlin"}]}','{"type": "object", "properties": {"iso": {"type": "string", "format": "date-time", "description": "ISO 8601, with the zone''s offset."}, "unix": {"type": "integer", "description": "Seconds since 1970-01-01T00:00:00Z."}, "timezone": {"type": "string", "description": "The time zone of `iso`, `date`, `time` and `weekday`."}, "abbreviation": {"type": ["string", "null"], "description": "What the zone is called now, such as CEST."}, "date": {"type": "string", "format": "date"}, "time": {"type": "string", "description": "HH:MM:SS, on a 24-hour clock."}, "weekday": {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]}}, "required": ["iso", "unix", "timezone", "date", "time", "weekday"]}',NULL,NULL,1,1,1,'Current Time','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('9e60bc7b2e6952c6bbf20b00e3006074',1,'2026-11-18 16:44:40.810683','2026-11-18 16:44:40.810683',0,NULL,'01a1ef8bd3e273dba756f8752af5ff7a','json_query','Selects, filters, sorts and reshapes parts of a JSON value with a JMESPath query, and returns what it finds; null where nothing matches. Use it to get a few values out of a large JSON result without copying it by hand. Numbers in a query stand in backticks (`10`), strings in single quotes (''red''). It has no arithmetic.','builtin','{"operation": "json_query"}','{"type": "object", "properties": {"data": {"description": "The JSON value to query: an object or array, not a string with JSON in it."}, "query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The JMESPath expression.", "examples": ["items[0].name", "items[?price > `10`].{name: name, price: price}", "sort_by(items, &price)[-1]", "length(items)"]}}, "required": ["data", "query"], "examples": [{"data": {"items": [{"name": "a", "price": 5}, {"name": "b", "price": 20}]}, "query": "items[?price > `10`]"}]}','{"type": "object", "properties": {"result": {"description": "What the query selects; null where nothing matches."}}, "required": ["result"]}',NULL,NULL,1,1,1,'JSON Query','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('492cf430bf41555ebdbdf302bf383784',1,'2026-11-18 16:44:40.810683','2026-11-18 16:44:40.810683',0,NULL,'01a1ef8bd3e273dba756f8752af5ff7a','query_baseline','Whether a finding is known: new, recurring or resolved, since when and how often it was seen. Changes nothing.','internal','{"handler": "query_baseline"}','{"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "query_type": {"type": "string", "enum": ["baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["finding_id", "composite_hash", "query_type"], "additionalProperties": false}','{"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}',NULL,NULL,1,1,1,'Query baseline','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('3d387905ae305c2882a8c97f9e4aa8d1',1,'2026-11-18 16:44:40.810683','2026-11-18 16:44:40.810683',0,NULL,'01a1ef8bd3e273dba756f8752af5ff7a','batch_baseline_query','Whether each of up to 10,000 findings is known, in the order asked. Changes nothing.','internal','{"handler": "batch_baseline_query"}','{"type": "object", "properties": {"finding_ids": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "maxItems": 10000, "description": "What you call the findings"}, "composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "Their hashes, one for each of finding_ids in the same order"}, "query_type": {"type": "string", "enum": ["batch_baseline_check", "baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the same answer"}, "batch_size": {"type": "integer", "minimum": 1, "maximum": 10000, "description": "How many are looked up in one statement; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["finding_ids", "composite_hashes", "query_type"], "additionalProperties": false}','{"type": "object", "properties": {"results": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}}}, "required": ["results"], "additionalProperties": false}',NULL,NULL,1,1,1,'Query baseline for many','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,1,0,0,33554432,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('86374af31257591dbc5f4666a9fd2d72',1,'2026-11-18 16:44:40.810683','2026-11-18 16:44:40.810683',0,NULL,'01a1ef8bd3e273dba756f8752af5ff7a','record_findings','Keep that findings were seen, each time it is called once more; a resolved one that is seen again recurs.','internal','{"handler": "record_findings"}','{"type": "object", "properties": {"findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["finding_id", "composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "What was seen"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["findings"], "additionalProperties": false}','{"type": "object", "properties": {"recorded": {"type": "integer", "minimum": 0}, "new": {"type": "integer", "minimum": 0}, "recurring": {"type": "integer", "minimum": 0}, "reopened": {"type": "integer", "minimum": 0}}, "required": ["recorded", "new", "recurring", "reopened"], "additionalProperties": false}',NULL,NULL,1,1,1,'Record findings','["baseline"]',NULL,'ignore','envelope',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('42944903dad95a33ae7df27da4aa4324',1,'2026-11-18 16:44:40.810683','2026-11-18 16:44:40.810683',0,NULL,'01a1ef8bd3e273dba756f8752af5ff7a','resolve_findings','Mark findings resolved, until they are seen again; give composite_hashes or findings.','internal','{"handler": "resolve_findings"}','{"type": "object", "properties": {"composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "The hashes of the findings"}, "findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "The findings"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": [], "additionalProperties": false}','{"type": "object", "properties": {"resolved": {"type": "integer", "minimum": 0}, "already_resolved": {"type": "integer", "minimum": 0}, "unknown": {"type": "integer", "minimum": 0}}, "required": ["resolved", "already_resolved", "unknown"], "additionalProperties": false}',NULL,NULL,1,1,1,'Resolve findings','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,0,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('01a1ef8bd5bc73d09613753603cf0bc1',2,'2026-11-18 16:44:41.276233','2026-11-18 16:44:41.276233',0,NULL,'01a1ef8bd3e273dba756f8752af5ff7a','kept','Golden kept','mock','{"mock_response": {"sky": "clear"}}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,1,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('01a1ef8bd5da765f8acade4b16fa5842',3,'2026-11-18 16:44:41.306392','2026-11-18 16:44:41.306392',0,NULL,'01a1ef8bd3e273dba756f8752af5ff7a','limited','Golden limited','mock','{"mock_response": 1}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,'{"max_calls": 1, "period": "hour", "burst": null, "scope": "caller"}',1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('01a1ef8bda5474eb833ad257c6c3c18f',8,'2026-11-18 16:44:42.452297','2026-11-18 16:44:42.452297',0,NULL,'01a1ef8bd3e273dba756f8752af5ff7a','note','Golden note','table','{"tableName": "notes", "fields": [{"name": "text", "dataType": "text"}]}','{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"text": {"type": ["string", "null"]}}, "required": [], "additionalProperties": false}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'reject','detailed',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('01a1ef8bda6d777385ff46c2330e31df',9,'2026-11-18 16:44:42.477428','2026-11-18 16:44:42.477428',0,NULL,'01a1ef8bd3e273dba756f8752af5ff7a','print','Golden print','python','{"code": "def show(text: str) -> str:\n    print(''printed'', text)\n    return text\n"}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel');
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
INSERT INTO "users" VALUES('01a1ef8bd3e273dba756f8752af5ff7a',1,'2026-11-18 16:44:40.802233','2026-11-18 16:44:40.802233',0,NULL,'admin','admin');
INSERT INTO "users" VALUES('01a1ef8bd92070a4a86a205036445aff',4,'2026-11-18 16:44:42.144032','2026-11-18 16:44:42.144032',0,NULL,'ada','member');
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
INSERT INTO "writers" VALUES(1,'01a1ef8bd4047d6682ba55d7fbafb64c','vm',11618,'2026-11-18 16:44:41.195064','2026-11-18 16:44:57.844873',34,24,'54a77b34dc2b104565a8b17dab24e98e','94ec56beca484148befd46c7ca16e3c6',3,'30bcc8d33acdaa04cf6de1ccc410a4a7','41f2115e9469f741e0898df95e9ebb26',24);
INSERT INTO "writers" VALUES(2,'01a1ef8c13467f3ca243fec2569d408b','vm',13364,'2026-11-18 16:44:57.085311','2026-11-18 16:44:57.536034',1,0,'','9503ce0d6d6fc3b674cedd81a0326432',0,'','',0);
INSERT INTO "writers" VALUES(3,'01a1ef8c149e7fc1bd21ec4474c8ea93','vm',11618,'2026-11-18 16:44:57.536584','2026-11-18 16:44:57.672286',2,1,'30111fe79a7d80db1a4d650bbff25745','d1244ed9214a444654c2310a05d65df8',0,'','',1);
INSERT INTO "writers" VALUES(4,'01a1ef8c658370dfbd65e87ed4fd1d42','vm',14201,'2026-11-18 16:45:18.312426','2026-11-18 16:45:18.315795',2,1,'334a264bc4f2d8c5d81a6b92f2456410','f16f29d210c5a56a33e11786f3404a0c',0,'','',1);
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
