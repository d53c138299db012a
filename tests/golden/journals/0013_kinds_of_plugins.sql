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
INSERT INTO "agents" VALUES('01a1f092b9c17d02820ab68933205777',6,'2026-11-18 21:31:50.081807','2026-11-18 21:31:50.081807',0,NULL,'01a1f092b9aa719fb246516e5e9e7baf','helper',NULL,'[]');
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0013_kinds_of_plugins');
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
INSERT INTO "api_keys" VALUES('01a1f092b84a701ea0b0ef8cb4bb2749',1,'2026-11-18 21:31:49.704320','01a1f092b83a7139bf5abb3e0efe01f4','PEGBOARD_ADMIN_KEY','','99de2c0ce55984142dfd5fd91934131cd616f48bad424bd05325f2b269e73ad1',NULL,NULL,NULL,'ced2669c10699000af1107a6dbc42618c4a3514caae74facd9e15c04843ccd04',NULL);
INSERT INTO "api_keys" VALUES('01a1f092b9b97052aca2cef2daa7fa63',5,'2026-11-18 21:31:50.073012','01a1f092b9aa719fb246516e5e9e7baf','laptop','pb_AXckm','c7155ef4e4713cf821a2a0607e57820a47e8337328d266fc2a0bbfe3f099a2c7',NULL,NULL,NULL,'4e304986bb5808234452d4578a8c9f00dd878e7b243e471ff061e6150d5b7d0d','01a1f092b83a7139bf5abb3e0efe01f4');
INSERT INTO "api_keys" VALUES('01a1f092b9cc7d85826e9972d1e762c3',7,'2026-11-18 21:31:50.092837','01a1f092b9aa719fb246516e5e9e7baf','robot','pb_Ztjmt','17d308dbb3a97ac20120ff385aaae1b58e30ed1b5068aa1e27fca73f3f43e3ef','01a1f092b9c17d02820ab68933205777',NULL,NULL,'e74d840f31ae0747a44407386871871b20d5e698e178edfd54ed6398c8751f1f','01a1f092b83a7139bf5abb3e0efe01f4');
CREATE TABLE board_state (
	id INTEGER NOT NULL, 
	revision BIGINT NOT NULL, writers INTEGER DEFAULT '0' NOT NULL, writers_signature VARCHAR(32) DEFAULT '' NOT NULL, 
	CONSTRAINT pk_board_state PRIMARY KEY (id), 
	CONSTRAINT ck_board_state_single CHECK (id = 1)
);
INSERT INTO "board_state" VALUES(1,12,4,'bfc574981220c3b4567cc5696b5f7db3');
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
INSERT INTO "execution_counts" VALUES(498621,'','','refused','tool_not_found',86,1);
INSERT INTO "execution_counts" VALUES(498621,'','','refused','tool_not_found',97,1);
INSERT INTO "execution_counts" VALUES(498621,'','dies','in_doubt','in_doubt',99,1);
INSERT INTO "execution_counts" VALUES(498621,'','echo','succeeded','',77,1);
INSERT INTO "execution_counts" VALUES(498621,'','echo','succeeded','',79,1);
INSERT INTO "execution_counts" VALUES(498621,'','echo','succeeded','',85,1);
INSERT INTO "execution_counts" VALUES(498621,'','echo','succeeded','',86,1);
INSERT INTO "execution_counts" VALUES(498621,'','echo','succeeded','',89,1);
INSERT INTO "execution_counts" VALUES(498621,'','echo','succeeded','',114,1);
INSERT INTO "execution_counts" VALUES(498621,'','fails','failed','execution_failed',154,1);
INSERT INTO "execution_counts" VALUES(498621,'','kept','refused','missing',118,1);
INSERT INTO "execution_counts" VALUES(498621,'','kept','succeeded','',112,1);
INSERT INTO "execution_counts" VALUES(498621,'','limited','refused','rate_limited',85,1);
INSERT INTO "execution_counts" VALUES(498621,'','limited','succeeded','',111,1);
INSERT INTO "execution_counts" VALUES(498621,'','math_eval','failed','execution_failed',112,1);
INSERT INTO "execution_counts" VALUES(498621,'','math_eval','succeeded','',105,1);
INSERT INTO "execution_counts" VALUES(498621,'','note','succeeded','',163,1);
INSERT INTO "execution_counts" VALUES(498621,'','once','refused','idempotency_conflict',122,1);
INSERT INTO "execution_counts" VALUES(498621,'','once','succeeded','',147,2);
INSERT INTO "execution_counts" VALUES(498621,'','print','succeeded','',214,1);
INSERT INTO "execution_counts" VALUES(498621,'','replaced','succeeded','',143,1);
INSERT INTO "execution_counts" VALUES(498621,'','tried','failed','contract_violation',154,1);
INSERT INTO "execution_counts" VALUES(498621,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','','refused','tool_not_found',97,1);
INSERT INTO "execution_counts" VALUES(498621,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','dies','in_doubt','in_doubt',99,1);
INSERT INTO "execution_counts" VALUES(498621,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','echo','succeeded','',79,1);
INSERT INTO "execution_counts" VALUES(498621,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','echo','succeeded','',85,1);
INSERT INTO "execution_counts" VALUES(498621,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','echo','succeeded','',89,1);
INSERT INTO "execution_counts" VALUES(498621,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','echo','succeeded','',114,1);
INSERT INTO "execution_counts" VALUES(498621,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','fails','failed','execution_failed',154,1);
INSERT INTO "execution_counts" VALUES(498621,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','kept','refused','missing',118,1);
INSERT INTO "execution_counts" VALUES(498621,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','kept','succeeded','',112,1);
INSERT INTO "execution_counts" VALUES(498621,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','limited','refused','rate_limited',85,1);
INSERT INTO "execution_counts" VALUES(498621,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','limited','succeeded','',111,1);
INSERT INTO "execution_counts" VALUES(498621,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','math_eval','failed','execution_failed',112,1);
INSERT INTO "execution_counts" VALUES(498621,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','math_eval','succeeded','',105,1);
INSERT INTO "execution_counts" VALUES(498621,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','note','succeeded','',163,1);
INSERT INTO "execution_counts" VALUES(498621,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','once','refused','idempotency_conflict',122,1);
INSERT INTO "execution_counts" VALUES(498621,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','once','succeeded','',147,2);
INSERT INTO "execution_counts" VALUES(498621,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','print','succeeded','',214,1);
INSERT INTO "execution_counts" VALUES(498621,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','replaced','succeeded','',143,1);
INSERT INTO "execution_counts" VALUES(498621,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','tried','failed','contract_violation',154,1);
INSERT INTO "execution_counts" VALUES(498621,'01a1f092-b9aa-719f-b246-516e5e9e7baf','','refused','tool_not_found',86,1);
INSERT INTO "execution_counts" VALUES(498621,'01a1f092-b9aa-719f-b246-516e5e9e7baf','echo','succeeded','',77,1);
INSERT INTO "execution_counts" VALUES(498621,'01a1f092-b9aa-719f-b246-516e5e9e7baf','echo','succeeded','',86,1);
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
INSERT INTO "executions" VALUES('01a1f092b9107080a2a8e2136531d8f2','echo','succeeded','2026-11-18 21:31:49.904026','2026-11-18 21:31:49.904265',0.197,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1f092-b910-7080-a2a8-e2136531d8f2',NULL,NULL,'f1f1dc620e12e65b147c37b2ac8b6bc7',NULL,NULL,NULL,NULL,NULL,NULL,1,4,'04a1703ffccc36d4bb0dfbad16c3cf04',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f092b9157be5afc99a74baf4e72f','kept','succeeded','2026-11-18 21:31:49.909737','2026-11-18 21:31:49.910588',0.794,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','admin','library','plain',1,'01a1f092-b8e1-7f39-9d5b-cb3041a66243',1,'mock',NULL,NULL,'01a1f092-b915-7be5-afc9-9a74baf4e72f',NULL,NULL,'b4117399181a8dd47ac7697fc5c588bb','{"text":"a ☃ and a 😀, \"quoted\", \\ and a\nline","number":-1.5e+300}',NULL,NULL,NULL,NULL,NULL,1,5,'acec7a1a08a3ea220d3316bf5572763c',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f092b9177edba962f304009a4258','fails','failed','2026-11-18 21:31:49.911924','2026-11-18 21:31:49.921860',9.882,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','admin','library','plain',1,'292d6f6c-a238-532d-ba7c-02469f556f4e',1,'internal',NULL,NULL,'01a1f092-b917-7edb-a962-f304009a4258','execution_failed','cannot do a ☃ and a 😀, "quoted", \ and a
line','f1f1dc620e12e65b147c37b2ac8b6bc7',NULL,NULL,NULL,NULL,NULL,NULL,1,6,'22e7e8cf9088baeb39a22c5f2a33f236',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f092b928725fa60fc27915d809f0','math_eval','failed','2026-11-18 21:31:49.928140','2026-11-18 21:31:49.929011',0.828,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','admin','library','plain',1,'4f56c6ab-4df0-5007-b192-54f29c273c7e',1,'builtin',NULL,NULL,'01a1f092-b928-725f-a60f-c27915d809f0','execution_failed','Division by zero at position 2; change the divisor','7d952385cfe653b70eddb6ca6a961903',NULL,NULL,NULL,NULL,NULL,NULL,1,7,'554d4a288c354d6466a6c74c523b4001',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f092b9317bbfbcd944556909095a','kept','refused','2026-11-18 21:31:49.937724','2026-11-18 21:31:49.938950',1.166,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','admin','library','plain',0,'01a1f092-b8e1-7f39-9d5b-cb3041a66243',1,'mock',NULL,NULL,'01a1f092-b931-7bbf-bcd9-44556909095a','missing','Invalid parameters: missing ''text''',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,8,'984fbaa7b3274cbe0650aadc33034f5d',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f092b9357a10b5db61e540d495bb','no_such_tool','refused','2026-11-18 21:31:49.941623','2026-11-18 21:31:49.941996',0.336,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','admin','library','plain',0,NULL,NULL,NULL,NULL,NULL,'01a1f092-b935-7a10-b5db-61e540d495bb','tool_not_found','Tool ''no_such_tool'' not found',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,9,'48aa8078c72c7ba0100dcd3ffc03cee7',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f092b938717b909eaaadb194e6f5','limited','succeeded','2026-11-18 21:31:49.944088','2026-11-18 21:31:49.944866',0.747,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','admin','library','plain',1,'01a1f092-b8f5-7ea5-9e96-9ec50672f4b1',1,'mock',NULL,NULL,'01a1f092-b938-717b-909e-aaadb194e6f5',NULL,NULL,'78101f4a7c3668419ecf8f0172c702eb',NULL,NULL,NULL,NULL,NULL,NULL,1,10,'3c1a87da56586b99db85726d1b4a9d70',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f092b93d7a82a8a074153ea262b4','limited','refused','2026-11-18 21:31:49.949650','2026-11-18 21:31:49.949843',0.16,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','admin','library','plain',0,'01a1f092-b8f5-7ea5-9e96-9ec50672f4b1',1,'mock',NULL,NULL,'01a1f092-b93d-7a82-a8a0-74153ea262b4','rate_limited','Rate limit of ''limited'' reached: 1 call per hour; try again in 3600 s','e00ce99ece27d021ca6fd89d37de3f83',NULL,NULL,NULL,NULL,NULL,NULL,1,11,'30b5b1fa4ef62301934be29554699b17',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f092b9d4741d9eeb04585f523f1b','echo','succeeded','2026-11-18 21:31:50.100250','2026-11-18 21:31:50.100453',0.172,'01a1f092-b9aa-719f-b246-516e5e9e7baf','ada','rest','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin','01a1f092-b9b9-7052-aca2-cef2daa7fa63',NULL,'request-1',NULL,NULL,'79c5c70bb329482ab5052bfa45d4e88a',NULL,NULL,NULL,NULL,NULL,NULL,1,12,'f2fc2758453e1c356347ba289ea920ca',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f092b9da7ac882d284a6e0eee03f','echo','refused','2026-11-18 21:31:50.106667','2026-11-18 21:31:50.106874',0.172,'01a1f092-b9aa-719f-b246-516e5e9e7baf','ada','rest','plain',0,NULL,NULL,NULL,'01a1f092-b9cc-7d85-826e-9972d1e762c3','01a1f092-b9c1-7d02-820a-b68933205777','01a1f092-b9da-7ac8-82d2-84a6e0eee03f','tool_not_found','Tool ''echo'' not found',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,13,'4149159b0e52598271f49496ee382c90',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f092b9dd7c50b625eb3699bbdc6b','echo','succeeded','2026-11-18 21:31:50.109766','2026-11-18 21:31:50.109886',0.099,'01a1f092-b9aa-719f-b246-516e5e9e7baf','ada','rest','openai_chat',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin','01a1f092-b9b9-7052-aca2-cef2daa7fa63',NULL,'01a1f092-b9dd-76e0-9bf5-d66095649770',NULL,NULL,'c6bdd75b0789e9657c6ca50d538649f4',NULL,NULL,NULL,NULL,NULL,NULL,1,14,'2e2673501927fae3f0a69d39ff303f1b',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f092b9e17778865e6f4f43aac395','once','succeeded','2026-11-18 21:31:50.113463','2026-11-18 21:31:50.119967',6.457,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','admin','library','plain',1,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1f092-b9e1-7778-865e-6f4f43aac395',NULL,NULL,'a27788a9e7cba779fb98adf0c5d67011',NULL,NULL,NULL,NULL,NULL,'"A"',1,15,'24484713fcc9b31fc9e30ebd2577b59c',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f092b9e97f9ca514b8c850b6f91d','once','succeeded','2026-11-18 21:31:50.121969','2026-11-18 21:31:50.125588',6.457,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','admin','library','plain',0,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1f092-b9e9-7f9c-a514-b8c850b6f91d',NULL,NULL,'a27788a9e7cba779fb98adf0c5d67011',NULL,NULL,NULL,NULL,'01a1f092-b9e1-7778-865e-6f4f43aac395','"A"',1,16,'ea21e30b46542908c9942e505cc61d50',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f092b9ee7e0381fd48b472969c44','once','refused','2026-11-18 21:31:50.126872','2026-11-18 21:31:50.128342',1.438,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','admin','library','plain',0,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1f092-b9ee-7e03-81fd-48b472969c44','idempotency_conflict','This idempotency key was used for ''once'' with other arguments; send the same arguments again, or a new key for a new call','1aafba5c35e56af5c9d65ce46512ba45',NULL,NULL,NULL,NULL,NULL,NULL,1,17,'ffa1a178b6802b4575535be3471b7076',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f092b9f678f0bff77e72da62bb3b','tried','failed','2026-11-18 21:31:50.134555','2026-11-18 21:31:50.144498',9.904,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','admin','library','plain',2,'47fe7a73-0ae4-5d70-aa28-58a231407683',1,'internal',NULL,NULL,'01a1f092-b9f6-78f0-bff7-7e72da62bb3b','contract_violation','The tool''s output breaks its output schema: The output must be an integer','776706715c64e9306d6e3e3677060b1b',NULL,NULL,NULL,NULL,NULL,NULL,1,18,'7c84f7705a029261dd843a655d63a86d',NULL,'[{"attempt":1,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":3.37},{"attempt":2,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":0.735}]');
INSERT INTO "executions" VALUES('01a1f092ba037a579030773a13c06102','replaced','succeeded','2026-11-18 21:31:50.147640','2026-11-18 21:31:50.152830',5.161,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','admin','library','plain',2,'0b58c42c-a575-56ea-8e61-45f3fdeaeca4',1,'internal',NULL,NULL,'01a1f092-ba03-7a57-9030-773a13c06102',NULL,NULL,'776706715c64e9306d6e3e3677060b1b',NULL,NULL,NULL,NULL,NULL,NULL,1,19,'e5735b3f9f085fbfa135fc3f0b4f5260',NULL,'[{"attempt":1,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":0.932},{"attempt":2,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":0.369}]');
INSERT INTO "executions" VALUES('01a1f092ba3c77799e7da1b1b4fc7845','note','succeeded','2026-11-18 21:31:50.204459','2026-11-18 21:31:50.221776',17.262,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','admin','library','plain',1,'01a1f092-ba10-7a5a-8e17-55a6f17b464d',1,'table',NULL,NULL,'01a1f092-ba3c-7779-9e7d-a1b1b4fc7845',NULL,NULL,'155965ccd6847835f0185f0b8b386d86',NULL,'1',NULL,NULL,NULL,NULL,1,20,'0def3e141462d31639729cfd06ebdb03',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f092ba517a5782a29f71d9103300','print','succeeded','2026-11-18 21:31:50.225640','2026-11-18 21:31:50.602153',376.454,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','admin','library','plain',1,'01a1f092-ba28-7154-8009-76acb31d7fae',1,'python',NULL,NULL,'01a1f092-ba51-7a57-82a2-9f71d9103300',NULL,NULL,'bbb7c44f9f70db51f6165aa363f89550',NULL,NULL,NULL,NULL,NULL,NULL,1,21,'ff9455b021280583f3e6c780a00aa4a4','printed text
',NULL);
INSERT INTO "executions" VALUES('01a1f092bbd07fe68c5b1c5bc2a1623c','math_eval','succeeded','2026-11-18 21:31:50.609028','2026-11-18 21:31:50.609601',0.533,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','admin','library','plain',1,'4f56c6ab-4df0-5007-b192-54f29c273c7e',1,'builtin',NULL,NULL,'01a1f092-bbd0-7fe6-8c5b-1c5bc2a1623c',NULL,NULL,'1a137e729071495cb60f2b32691ac359',NULL,NULL,'01a1f092-bbd0-7af6-886e-bc3ccb7195de',NULL,NULL,NULL,1,22,'92cc93627c48a3ec3e8a4bb9192f1df0',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f092bbd57e47b6c2f5a200d50047','echo','succeeded','2026-11-18 21:31:50.613930','2026-11-18 21:31:50.614070',0.113,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1f092-bbd5-7e47-b6c2-f5a200d50047',NULL,NULL,'cffc9345426ec8d46f5753d665ed2e31',NULL,NULL,'01a1f092-bbd0-7af6-886e-bc3ccb7195de',NULL,NULL,NULL,1,23,'ce50316fead5db12cf3849f5c3ef73f7',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f092bbe577f9a202ed850ecd54cb','echo','succeeded','2026-11-18 21:31:50.629491','2026-11-18 21:31:50.629682',0.156,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1f092-bbe5-77f9-a202-ed850ecd54cb',NULL,NULL,'6720494c842ad2871c16315857b3760b',NULL,NULL,NULL,'01a1f092-bbdd-73bc-848c-7cdb9eb2a39d',NULL,NULL,1,24,'37cfe12f3e7e756fc5962832ec024dd5',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f092c5d8782c8682999772ca4c95','dies','in_doubt','2026-11-18 21:31:53.176506','2026-11-18 21:31:53.239190',0.375,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','admin','library','plain',1,'301f3051-930d-5d5d-ae86-e078a5b82b33',1,'internal',NULL,NULL,'01a1f092-c5d8-782c-8682-999772ca4c95','in_doubt','The server ended while this call was running; whether it took effect is not known','776706715c64e9306d6e3e3677060b1b',NULL,NULL,NULL,NULL,NULL,NULL,3,1,'ad2ba908f3a858b1b9389ba7aaea2375',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f092d41f7c4db1864aeee1ee1818','echo','succeeded','2026-11-18 21:31:56.831759','2026-11-18 21:31:56.832723',0.916,'01a1f092-b83a-7139-bf5a-bb3e0efe01f4','admin','cli','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1f092-d41f-7c4d-b186-4aeee1ee1818',NULL,NULL,'778e165ee0b0dc63a27b36c87610436f',NULL,NULL,NULL,NULL,NULL,NULL,4,1,'b74dc4d7d2b87211746238581d2924e5',NULL,NULL);
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
INSERT INTO "intents" VALUES('01a1f092b9e17778865e6f4f43aac395',1,'done','',0,'beafe690d114315c76773f4befda8b0735fdf2b6cb48eb0570563b73d489a92c','a27788a9e7cba779fb98adf0c5d67011','pb1:b3457b1d:ZA2Tb59x6_He0Nub9QX8_-fwXUpBS6oOXcbDOGm2AR0zwFhED0e3l2Bwb8bzLs1JIu-m6RRPgZ_tU8QGu9jAyclh_WP_aH_uvEgMxhnMTVlt-1xYHwA9P93ULJRulQ4_0gnM5wp7c3DaAv4FtRLT9PTZ9zV_XkrUZcq_TnVRrusx-eGps2DD','2026-11-19 21:31:50.113838','989ed9a33c2b2c0e5ffd4f9033271526','e30382f2c193ec17962e0ac04dc03f1d',NULL);
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
INSERT INTO "messages" VALUES('01a1f092bbdd73bc848c7cdb9eb2a39d',0,'01a1f092bbeb78c59424145fe10cef7b','assistant',NULL,'2026-11-18 21:31:50.632194','[{"id":"call_01a1f092bbe577f9a202ed850ecd54cb","name":"echo","arguments":{"text":"thread"},"result":{"echo":{"text":"thread"}},"duration_ms":0.156,"attempts":1,"run_id":"01a1f092-bbe5-77f9-a202-ed850ecd54cb","result_valid":true}]','plain',NULL);
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
INSERT INTO "secrets" VALUES('01a1f092b8407b13ba4046edce7ffb37',1,'2026-11-18 21:31:49.696683','2026-11-18 21:31:49.696683','01a1f092b83a7139bf5abb3e0efe01f4','$root','pb1:b3457b1d:oKZc7IRse1sWV8m3cCNFbFY7vjARSQvptPJGv_no7SDHEFYZyaEF4ExCpYsI47s7-1AjSQTC3e4MzcpSGxv7vjMcoHMMrrco7gHDlpNZaQ');
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
INSERT INTO "threads" VALUES('01a1f092bbdd73bc848c7cdb9eb2a39d','01a1f092b83a7139bf5abb3e0efe01f4','golden',1,'2026-11-18 21:31:50.621226','2026-11-18 21:31:50.632481',NULL);
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
INSERT INTO "tool_versions" VALUES('01a1f092b8577eadbdc5fa3c850f9284','4f56c6ab4df05007b19254f29c273c7e',1,'{"name": "math_eval", "tool_type": "builtin", "config": {"operation": "math_eval"}, "input_schema": {"type": "object", "properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "The expression to evaluate.", "examples": ["2+2", "(1 + 0.05)^10 * 1000", "sqrt(3^2 + 4^2)", "sin(radians(30))"]}}, "required": ["expression"], "examples": [{"expression": "(1 + 0.05)^10 * 1000"}]}, "description": "Evaluates one arithmetic expression and returns the number. Use it for any calculation beyond trivial mental arithmetic instead of working it out yourself. Operators: + - * / // (floor division) % (modulo, not percent) ^ or ** (power) and ! (factorial). Constants: pi, e, tau. Functions: sqrt, cbrt, abs, round, floor, ceil, trunc, sign, exp, log, ln, log2, log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, min, max, sum, mean, pow, mod, gcd, lcm, factorial, hypot, degrees, radians. Angles are in radians; log is natural unless written log(x, base). There are no variables, comparisons, lists or units, and numbers are written without thousands separators.", "output_schema": {"type": "object", "properties": {"result": {"type": "number", "description": "The value; whole numbers beyond 64 bits are rounded to a floating-point number."}}, "required": ["result"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Calculator", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 21:31:49.709124','01a1f092-b83a-7139-bf5a-bb3e0efe01f4');
INSERT INTO "tool_versions" VALUES('01a1f092b8577f68b86badae49fb3aba','6b6d2eda2c7950659ce66502d73cc282',1,'{"name": "echo", "tool_type": "builtin", "config": {"operation": "echo"}, "input_schema": {"type": "object", "additionalProperties": true, "examples": [{"message": "hello"}]}, "description": "Returns exactly the arguments it was called with, under `echo`. Use it to check that tool calls work and how your arguments arrive; it does nothing else.", "output_schema": {"type": "object", "properties": {"echo": {"type": "object", "description": "The arguments of the call."}}, "required": ["echo"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Echo", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 21:31:49.709124','01a1f092-b83a-7139-bf5a-bb3e0efe01f4');
INSERT INTO "tool_versions" VALUES('01a1f092b8577f9095436f4d5af14fa1','85f568ed8cd35e11a508d3927f353e28',1,'{"name": "calculate_rsi", "tool_type": "builtin", "config": {"operation": "calculate_rsi"}, "input_schema": {"type": "object", "properties": {"prices": {"type": "array", "items": {"type": "number", "minimum": -1e+300, "maximum": 1e+300}, "minItems": 2, "maxItems": 100000, "description": "Closing prices, oldest first; at least period + 1.", "examples": [[44.34, 44.09, 44.15, 43.61, 44.33]]}, "period": {"type": "integer", "minimum": 1, "maximum": 99999, "default": 14, "description": "How many price changes are averaged; 14 is usual."}, "overbought": {"type": "number", "minimum": 0, "maximum": 100, "default": 70, "description": "The RSI from which on the answer''s `overbought` is true."}, "oversold": {"type": "number", "minimum": 0, "maximum": 100, "default": 30, "description": "The RSI down from which the answer''s `oversold` is true."}, "include_series": {"type": "boolean", "default": true, "description": "false leaves `series` out of the answer: shorter when only the last value matters."}}, "required": ["prices"], "examples": [{"prices": [44.34, 44.09, 44.15, 43.61, 44.33], "period": 3}]}, "description": "Calculates the relative strength index (RSI) of a series of prices, with Wilder''s smoothing, and says whether the last value is overbought or oversold. Give the closing prices oldest first, at least period + 1 of them; around 100 or more make the smoothing settle. It fetches no prices: you must have them already.", "output_schema": {"type": "object", "properties": {"rsi": {"type": "number", "minimum": 0, "maximum": 100, "description": "The RSI at the last price."}, "overbought": {"type": "boolean", "description": "Whether `rsi` is at or above the threshold."}, "oversold": {"type": "boolean", "description": "Whether `rsi` is at or below the threshold."}, "period": {"type": "integer", "description": "The period that was used."}, "series": {"type": "array", "items": {"type": ["number", "null"]}, "description": "The RSI at every price, as many as `prices`; null for the first `period` of them."}}, "required": ["rsi", "overbought", "oversold", "period"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Calculate RSI", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 21:31:49.709124','01a1f092-b83a-7139-bf5a-bb3e0efe01f4');
INSERT INTO "tool_versions" VALUES('01a1f092b8577faeabc1afcf3f28a0a6','41a86778e8bd54c69de12c75630f7f9e',1,'{"name": "current_time", "tool_type": "builtin", "config": {"operation": "current_time"}, "input_schema": {"type": "object", "properties": {"timezone": {"type": "string", "maxLength": 64, "default": "UTC", "description": "An IANA time zone name.", "examples": ["UTC", "Europe/Berlin", "America/New_York"]}}, "examples": [{}, {"timezone": "Europe/Berlin"}]}, "description": "Returns the current date, time and weekday, in UTC or in the time zone you name. Call it whenever an answer depends on what day or time it is now; you cannot know that otherwise.", "output_schema": {"type": "object", "properties": {"iso": {"type": "string", "format": "date-time", "description": "ISO 8601, with the zone''s offset."}, "unix": {"type": "integer", "description": "Seconds since 1970-01-01T00:00:00Z."}, "timezone": {"type": "string", "description": "The time zone of `iso`, `date`, `time` and `weekday`."}, "abbreviation": {"type": ["string", "null"], "description": "What the zone is called now, such as CEST."}, "date": {"type": "string", "format": "date"}, "time": {"type": "string", "description": "HH:MM:SS, on a 24-hour clock."}, "weekday": {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]}}, "required": ["iso", "unix", "timezone", "date", "time", "weekday"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Current Time", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 21:31:49.709124','01a1f092-b83a-7139-bf5a-bb3e0efe01f4');
INSERT INTO "tool_versions" VALUES('01a1f092b8577fceac78fe632ddcf99a','9e60bc7b2e6952c6bbf20b00e3006074',1,'{"name": "json_query", "tool_type": "builtin", "config": {"operation": "json_query"}, "input_schema": {"type": "object", "properties": {"data": {"description": "The JSON value to query: an object or array, not a string with JSON in it."}, "query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The JMESPath expression.", "examples": ["items[0].name", "items[?price > `10`].{name: name, price: price}", "sort_by(items, &price)[-1]", "length(items)"]}}, "required": ["data", "query"], "examples": [{"data": {"items": [{"name": "a", "price": 5}, {"name": "b", "price": 20}]}, "query": "items[?price > `10`]"}]}, "description": "Selects, filters, sorts and reshapes parts of a JSON value with a JMESPath query, and returns what it finds; null where nothing matches. Use it to get a few values out of a large JSON result without copying it by hand. Numbers in a query stand in backticks (`10`), strings in single quotes (''red''). It has no arithmetic.", "output_schema": {"type": "object", "properties": {"result": {"description": "What the query selects; null where nothing matches."}}, "required": ["result"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "JSON Query", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 21:31:49.709124','01a1f092-b83a-7139-bf5a-bb3e0efe01f4');
INSERT INTO "tool_versions" VALUES('01a1f092b8577feea12ef92644a5afe4','492cf430bf41555ebdbdf302bf383784',1,'{"name": "query_baseline", "tool_type": "internal", "config": {"handler": "query_baseline"}, "input_schema": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "query_type": {"type": "string", "enum": ["baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": ["finding_id", "composite_hash", "query_type"], "additionalProperties": false}, "description": "Whether a finding is known: new, recurring or resolved, since when and how often it was seen. Changes nothing.", "output_schema": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Query baseline", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 21:31:49.709124','01a1f092-b83a-7139-bf5a-bb3e0efe01f4');
INSERT INTO "tool_versions" VALUES('01a1f092b858700caa49db43b307821d','3d387905ae305c2882a8c97f9e4aa8d1',1,'{"name": "batch_baseline_query", "tool_type": "internal", "config": {"handler": "batch_baseline_query"}, "input_schema": {"type": "object", "properties": {"finding_ids": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "maxItems": 10000, "description": "What you call the findings"}, "composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "Their hashes, one for each of finding_ids in the same order"}, "query_type": {"type": "string", "enum": ["batch_baseline_check", "baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the same answer"}, "batch_size": {"type": "integer", "minimum": 1, "maximum": 10000, "description": "How many are looked up in one statement; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": ["finding_ids", "composite_hashes", "query_type"], "additionalProperties": false}, "description": "Whether each of up to 10,000 findings is known, in the order asked. Changes nothing.", "output_schema": {"type": "object", "properties": {"results": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}}}, "required": ["results"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Query baseline for many", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": 33554432, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 21:31:49.709124','01a1f092-b83a-7139-bf5a-bb3e0efe01f4');
INSERT INTO "tool_versions" VALUES('01a1f092b858702dbf7ca3f9be037d0c','86374af31257591dbc5f4666a9fd2d72',1,'{"name": "record_findings", "tool_type": "internal", "config": {"handler": "record_findings"}, "input_schema": {"type": "object", "properties": {"findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["finding_id", "composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "What was seen"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": ["findings"], "additionalProperties": false}, "description": "Keep that findings were seen, each time it is called once more; a resolved one that is seen again recurs.", "output_schema": {"type": "object", "properties": {"recorded": {"type": "integer", "minimum": 0}, "new": {"type": "integer", "minimum": 0}, "recurring": {"type": "integer", "minimum": 0}, "reopened": {"type": "integer", "minimum": 0}}, "required": ["recorded", "new", "recurring", "reopened"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Record findings", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 21:31:49.709124','01a1f092-b83a-7139-bf5a-bb3e0efe01f4');
INSERT INTO "tool_versions" VALUES('01a1f092b858704daa5dae29e5531a83','42944903dad95a33ae7df27da4aa4324',1,'{"name": "resolve_findings", "tool_type": "internal", "config": {"handler": "resolve_findings"}, "input_schema": {"type": "object", "properties": {"composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "The hashes of the findings"}, "findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "The findings"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": [], "additionalProperties": false}, "description": "Mark findings resolved, until they are seen again; give composite_hashes or findings.", "output_schema": {"type": "object", "properties": {"resolved": {"type": "integer", "minimum": 0}, "already_resolved": {"type": "integer", "minimum": 0}, "unknown": {"type": "integer", "minimum": 0}}, "required": ["resolved", "already_resolved", "unknown"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Resolve findings", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 21:31:49.709124','01a1f092-b83a-7139-bf5a-bb3e0efe01f4');
INSERT INTO "tool_versions" VALUES('01a1f092b8ed7f9a869ea796f329f767','01a1f092b8e17f399d5bcb3041a66243',1,'{"name": "kept", "tool_type": "mock", "config": {"mock_response": {"sky": "clear"}}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden kept", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": true, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 21:31:49.857945','01a1f092-b83a-7139-bf5a-bb3e0efe01f4');
INSERT INTO "tool_versions" VALUES('01a1f092b8fd7d2e849f10120e56fa89','01a1f092b8f57ea59e969ec50672f4b1',1,'{"name": "limited", "tool_type": "mock", "config": {"mock_response": 1}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden limited", "output_schema": null, "rate_limit": {"max_calls": 1, "period": "hour", "burst": null, "scope": "caller"}, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 21:31:49.877906','01a1f092-b83a-7139-bf5a-bb3e0efe01f4');
INSERT INTO "tool_versions" VALUES('01a1f092ba21719c954e2450ba885d16','01a1f092ba107a5a8e1755a6f17b464d',1,'{"name": "note", "tool_type": "table", "config": {"tableName": "notes", "fields": [{"name": "text", "dataType": "text"}]}, "input_schema": {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"text": {"type": ["string", "null"]}}, "required": [], "additionalProperties": false}, "description": "Golden note", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "reject", "result_style": "detailed", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 21:31:50.160638','01a1f092-b83a-7139-bf5a-bb3e0efe01f4');
INSERT INTO "tool_versions" VALUES('01a1f092ba2c7d1c9b6c6631debfe573','01a1f092ba287154800976acb31d7fae',1,'{"name": "print", "tool_type": "python", "config": {"code": "def show(text: str) -> str:\n    print(''printed'', text)\n    return text\n"}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden print", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 21:31:50.184074','01a1f092-b83a-7139-bf5a-bb3e0efe01f4');
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
INSERT INTO "tools" VALUES('4f56c6ab4df05007b19254f29c273c7e',1,'2026-11-18 21:31:49.709124','2026-11-18 21:31:49.709124',0,NULL,'01a1f092b83a7139bf5abb3e0efe01f4','math_eval','Evaluates one arithmetic expression and returns the number. Use it for any calculation beyond trivial mental arithmetic instead of working it out yourself. Operators: + - * / // (floor division) % (modulo, not percent) ^ or ** (power) and ! (factorial). Constants: pi, e, tau. Functions: sqrt, cbrt, abs, round, floor, ceil, trunc, sign, exp, log, ln, log2, log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, min, max, sum, mean, pow, mod, gcd, lcm, factorial, hypot, degrees, radians. Angles are in radians; log is natural unless written log(x, base). There are no variables, comparisons, lists or units, and numbers are written without thousands separators.','builtin','{"operation": "math_eval"}','{"type": "object", "properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "The expression to evaluate.", "examples": ["2+2", "(1 + 0.05)^10 * 1000", "sqrt(3^2 + 4^2)", "sin(radians(30))"]}}, "required": ["expression"], "examples": [{"expression": "(1 + 0.05)^10 * 1000"}]}','{"type": "object", "properties": {"result": {"type": "number", "description": "The value; whole numbers beyond 64 bits are rounded to a floating-point number."}}, "required": ["result"]}',NULL,NULL,1,1,1,'Calculator','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('6b6d2eda2c7950659ce66502d73cc282',1,'2026-11-18 21:31:49.709124','2026-11-18 21:31:49.709124',0,NULL,'01a1f092b83a7139bf5abb3e0efe01f4','echo','Returns exactly the arguments it was called with, under `echo`. Use it to check that tool calls work and how your arguments arrive; it does nothing else.','builtin','{"operation": "echo"}','{"type": "object", "additionalProperties": true, "examples": [{"message": "hello"}]}','{"type": "object", "properties": {"echo": {"type": "object", "description": "The arguments of the call."}}, "required": ["echo"]}',NULL,NULL,1,1,1,'Echo','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('85f568ed8cd35e11a508d3927f353e28',1,'2026-11-18 21:31:49.709124','2026-11-18 21:31:49.709124',0,NULL,'01a1f092b83a7139bf5abb3e0efe01f4','calculate_rsi','Calculates the relative strength index (RSI) of a series of prices, with Wilder''s smoothing, and says whether the last value is overbought or oversold. Give the closing prices oldest first, at least period + 1 of them; around 100 or more make the smoothing settle. It fetches no prices: you must have them already.','builtin','{"operation": "calculate_rsi"}','{"type": "object", "properties": {"prices": {"type": "array", "items": {"type": "number", "minimum": -1e+300, "maximum": 1e+300}, "minItems": 2, "maxItems": 100000, "description": "Closing prices, oldest first; at least period + 1.", "examples": [[44.34, 44.09, 44.15, 43.61, 44.33]]}, "period": {"type": "integer", "minimum": 1, "maximum": 99999, "default": 14, "description": "How many price changes are averaged; 14 is usual."}, "overbought": {"type": "number", "minimum": 0, "maximum": 100, "default": 70, "description": "The RSI from which on the answer''s `overbought` is true."}, "oversold": {"type": "number", "minimum": 0, "maximum": 100, "default": 30, "description": "The RSI down from which the answer''s `oversold` is true."}, "include_series": {"type": "boolean", "default": true, "description": "false leaves `series` out of the answer: shorter when only the last value matters."}}, "required": ["prices"], "examples": [{"prices": [44.34, 44.09, 44.15, 43.61, 44.33], "period": 3}]}','{"type": "object", "properties": {"rsi": {"type": "number", "minimum": 0, "maximum": 100, "description": "The RSI at the last price."}, "overbought": {"type": "boolean", "description": "Whether `rsi` is at or above the threshold."}, "oversold": {"type": "boolean", "description": "Whether `rsi` is at or below the threshold."}, "period": {"type": "integer", "description": "The period that was used."}, "series": {"type": "array", "items": {"type": ["number", "null"]}, "description": "The RSI at every price, as many as `prices`; null for the first `period` of them."}}, "required": ["rsi", "overbought", "oversold", "period"]}',NULL,NULL,1,1,1,'Calculate RSI','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('41a86778e8bd54c69de12c75630f7f9e',1,'2026-11-18 21:31:49.709124','2026-11-18 21:31:49.709124',0,NULL,'01a1f092b83a7139bf5abb3e0efe01f4','current_time','Returns the current date, time and weekday, in UTC or in the time zone you name. Call it whenever an answer depends on what day or time it is now; you cannot know that otherwise.','builtin','{"operation": "current_time"}','{"type": "object", "properties": {"timezone": {"type": "string", "maxLength": 64, "default": "UTC", "description": "An IANA time zone name.", "examples": ["UTC", "Europe/Berlin", "America/New_York"]}}, "examples": [{}, {"timezone": "Europe/Berlin"}]}','{"type": "object", "properties": {"iso": {"type": "string", "format": "date-time", "description": "ISO 8601, with the zone''s offset."}, "unix": {"type": "integer", "description": "Seconds since 1970-01-01T00:00:00Z."}, "timezone": {"type": "string", "description": "The time zone of `iso`, `date`, `time` and `weekday`."}, "abbreviation": {"type": ["string", "null"], "description": "What the zone is called now, such as CEST."}, "date": {"type": "string", "format": "date"}, "time": {"type": "string", "description": "HH:MM:SS, on a 24-hour clock."}, "weekday": {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]}}, "required": ["iso", "unix", "timezone", "date", "time", "weekday"]}',NULL,NULL,1,1,1,'Current Time','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('9e60bc7b2e6952c6bbf20b00e3006074',1,'2026-11-18 21:31:49.709124','2026-11-18 21:31:49.709124',0,NULL,'01a1f092b83a7139bf5abb3e0efe01f4','json_query','Selects, filters, sorts and reshapes parts of a JSON value with a JMESPath query, and returns what it finds; null where nothing matches. Use it to get a few values out of a large JSON result without copying it by hand. Numbers in a query stand in backticks (`10`), strings in single quotes (''red''). It has no arithmetic.','builtin','{"operation": "json_query"}','{"type": "object", "properties": {"data": {"description": "The JSON value to query: an object or array, not a string with JSON in it."}, "query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The JMESPath expression.", "examples": ["items[0].name", "items[?price > `10`].{name: name, price: price}", "sort_by(items, &price)[-1]", "length(items)"]}}, "required": ["data", "query"], "examples": [{"data": {"items": [{"name": "a", "price": 5}, {"name": "b", "price": 20}]}, "query": "items[?price > `10`]"}]}','{"type": "object", "properties": {"result": {"description": "What the query selects; null where nothing matches."}}, "required": ["result"]}',NULL,NULL,1,1,1,'JSON Query','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('492cf430bf41555ebdbdf302bf383784',1,'2026-11-18 21:31:49.709124','2026-11-18 21:31:49.709124',0,NULL,'01a1f092b83a7139bf5abb3e0efe01f4','query_baseline','Whether a finding is known: new, recurring or resolved, since when and how often it was seen. Changes nothing.','internal','{"handler": "query_baseline"}','{"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "query_type": {"type": "string", "enum": ["baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": ["finding_id", "composite_hash", "query_type"], "additionalProperties": false}','{"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}',NULL,NULL,1,1,1,'Query baseline','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('3d387905ae305c2882a8c97f9e4aa8d1',1,'2026-11-18 21:31:49.709124','2026-11-18 21:31:49.709124',0,NULL,'01a1f092b83a7139bf5abb3e0efe01f4','batch_baseline_query','Whether each of up to 10,000 findings is known, in the order asked. Changes nothing.','internal','{"handler": "batch_baseline_query"}','{"type": "object", "properties": {"finding_ids": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "maxItems": 10000, "description": "What you call the findings"}, "composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "Their hashes, one for each of finding_ids in the same order"}, "query_type": {"type": "string", "enum": ["batch_baseline_check", "baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the same answer"}, "batch_size": {"type": "integer", "minimum": 1, "maximum": 10000, "description": "How many are looked up in one statement; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": ["finding_ids", "composite_hashes", "query_type"], "additionalProperties": false}','{"type": "object", "properties": {"results": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}}}, "required": ["results"], "additionalProperties": false}',NULL,NULL,1,1,1,'Query baseline for many','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,1,0,0,33554432,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('86374af31257591dbc5f4666a9fd2d72',1,'2026-11-18 21:31:49.709124','2026-11-18 21:31:49.709124',0,NULL,'01a1f092b83a7139bf5abb3e0efe01f4','record_findings','Keep that findings were seen, each time it is called once more; a resolved one that is seen again recurs.','internal','{"handler": "record_findings"}','{"type": "object", "properties": {"findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["finding_id", "composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "What was seen"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": ["findings"], "additionalProperties": false}','{"type": "object", "properties": {"recorded": {"type": "integer", "minimum": 0}, "new": {"type": "integer", "minimum": 0}, "recurring": {"type": "integer", "minimum": 0}, "reopened": {"type": "integer", "minimum": 0}}, "required": ["recorded", "new", "recurring", "reopened"], "additionalProperties": false}',NULL,NULL,1,1,1,'Record findings','["baseline"]',NULL,'ignore','envelope',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('42944903dad95a33ae7df27da4aa4324',1,'2026-11-18 21:31:49.709124','2026-11-18 21:31:49.709124',0,NULL,'01a1f092b83a7139bf5abb3e0efe01f4','resolve_findings','Mark findings resolved, until they are seen again; give composite_hashes or findings.','internal','{"handler": "resolve_findings"}','{"type": "object", "properties": {"composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "The hashes of the findings"}, "findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "The findings"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": [], "additionalProperties": false}','{"type": "object", "properties": {"resolved": {"type": "integer", "minimum": 0}, "already_resolved": {"type": "integer", "minimum": 0}, "unknown": {"type": "integer", "minimum": 0}}, "required": ["resolved", "already_resolved", "unknown"], "additionalProperties": false}',NULL,NULL,1,1,1,'Resolve findings','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,0,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('01a1f092b8e17f399d5bcb3041a66243',2,'2026-11-18 21:31:49.857945','2026-11-18 21:31:49.857945',0,NULL,'01a1f092b83a7139bf5abb3e0efe01f4','kept','Golden kept','mock','{"mock_response": {"sky": "clear"}}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,1,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('01a1f092b8f57ea59e969ec50672f4b1',3,'2026-11-18 21:31:49.877906','2026-11-18 21:31:49.877906',0,NULL,'01a1f092b83a7139bf5abb3e0efe01f4','limited','Golden limited','mock','{"mock_response": 1}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,'{"max_calls": 1, "period": "hour", "burst": null, "scope": "caller"}',1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('01a1f092ba107a5a8e1755a6f17b464d',8,'2026-11-18 21:31:50.160638','2026-11-18 21:31:50.160638',0,NULL,'01a1f092b83a7139bf5abb3e0efe01f4','note','Golden note','table','{"tableName": "notes", "fields": [{"name": "text", "dataType": "text"}]}','{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"text": {"type": ["string", "null"]}}, "required": [], "additionalProperties": false}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'reject','detailed',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('01a1f092ba287154800976acb31d7fae',9,'2026-11-18 21:31:50.184074','2026-11-18 21:31:50.184074',0,NULL,'01a1f092b83a7139bf5abb3e0efe01f4','print','Golden print','python','{"code": "def show(text: str) -> str:\n    print(''printed'', text)\n    return text\n"}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel',NULL);
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
INSERT INTO "users" VALUES('01a1f092b83a7139bf5abb3e0efe01f4',1,'2026-11-18 21:31:49.690067','2026-11-18 21:31:49.690067',0,NULL,'admin','admin','a2133b540369f8873bad106149c777d11c94c427995a674952afc9caf7663f7f');
INSERT INTO "users" VALUES('01a1f092b9aa719fb246516e5e9e7baf',4,'2026-11-18 21:31:50.058092','2026-11-18 21:31:50.058092',0,NULL,'ada','member','56f5164a28369c9c359bfdf714685fc45a0bbf70b579426e2b60775daf2dd602');
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
INSERT INTO "writers" VALUES(1,'01a1f092b899783d9a7ee3d25f9274bc','vm',25016,'2026-11-18 21:31:49.816207','2026-11-18 21:31:53.347155',33,24,'37cfe12f3e7e756fc5962832ec024dd5','0975cf25fa8f7a8dbd5ce7710e9a02c8',3,'fb22460b233c57546f9d43ae24322b17','1ddc93c0c2dee41dd62a786144378f45',24);
INSERT INTO "writers" VALUES(2,'01a1f092c5bd70288580c3b27764dedf','vm',25087,'2026-11-18 21:31:53.178727','2026-11-18 21:31:53.238737',1,0,'','07606c3705a1b8c56df7c101b52d7d02',0,'','',0);
INSERT INTO "writers" VALUES(3,'01a1f092c5fc775aac2a31c292315672','vm',25016,'2026-11-18 21:31:53.239256','2026-11-18 21:31:53.342995',2,1,'ad2ba908f3a858b1b9389ba7aaea2375','c3c2b7cdbdb2a599516aa000831f61a7',0,'','',1);
INSERT INTO "writers" VALUES(4,'01a1f092d3cb7b59898cc92fa3e10117','vm',25130,'2026-11-18 21:31:56.843567','2026-11-18 21:31:56.854367',2,1,'b74dc4d7d2b87211746238581d2924e5','2325304ffd564d5e6c32e8e5df7f3772',0,'','',1);
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
