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
INSERT INTO "agents" VALUES('01a1f5aed2e870078e0297a7a2ffa4bb',6,'2026-11-19 21:20:37.607999','2026-11-19 21:20:37.607999',0,NULL,'01a1f5aed2d571adb41e893854626b47','helper',NULL,'[]');
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0015_sessions');
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
INSERT INTO "api_keys" VALUES('01a1f5aed2297b8d942b8a152cad84b4',1,'2026-11-19 21:20:37.416418','01a1f5aed221789e86def90c3d7c2f6d','PEGBOARD_ADMIN_KEY','','ea59360ca688744c9325e40464e65ad066af36448ee015f14b4011b0d4e5c257',NULL,NULL,NULL,'5e9fca42abfeaa4640bd9f4dd963f9555af05198bd685aca481f2359f83d6f61',NULL,'key',NULL,'2026-11-19 21:20:37.725783');
INSERT INTO "api_keys" VALUES('01a1f5aed2df796f8495d2808f59fb8a',5,'2026-11-19 21:20:37.599586','01a1f5aed2d571adb41e893854626b47','laptop','pb_WrQO3','cb1483573f9bdd7bfc0a6c4cb698a5b22ffc205021f3fe3ba9052a181380067c',NULL,NULL,NULL,'84ce16fc34de75a51b410e8e9742362f336a5e8b701fc5e6a8a7297a8b7c3f15','01a1f5aed221789e86def90c3d7c2f6d','key',NULL,'2026-11-19 21:20:37.739594');
INSERT INTO "api_keys" VALUES('01a1f5aed35e79feb7145c10224ce023',7,'2026-11-19 21:20:37.726619','01a1f5aed2d571adb41e893854626b47','robot','pb_CEuf7','e63f070996c00f98e9b7964c649fb0db744be4e0d76fb34860d9dfaa8604a7a6','01a1f5aed2e870078e0297a7a2ffa4bb',NULL,NULL,'836e9972fc3b4267182f4470704d724d25357c50b0ab2ec0c3338b870a510878','01a1f5aed221789e86def90c3d7c2f6d','key',NULL,'2026-11-19 21:20:37.737691');
CREATE TABLE board_state (
	id INTEGER NOT NULL, 
	revision BIGINT NOT NULL, writers INTEGER DEFAULT '0' NOT NULL, writers_signature VARCHAR(32) DEFAULT '' NOT NULL, 
	CONSTRAINT pk_board_state PRIMARY KEY (id), 
	CONSTRAINT ck_board_state_single CHECK (id = 1)
);
INSERT INTO "board_state" VALUES(1,12,5,'ee5abb0c6b3f31963992df015855b59d');
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
INSERT INTO "execution_counts" VALUES(498645,'','','refused','tool_not_found',80,1);
INSERT INTO "execution_counts" VALUES(498645,'','','refused','tool_not_found',90,1);
INSERT INTO "execution_counts" VALUES(498645,'','dies','in_doubt','in_doubt',101,1);
INSERT INTO "execution_counts" VALUES(498645,'','echo','succeeded','',66,1);
INSERT INTO "execution_counts" VALUES(498645,'','echo','succeeded','',68,1);
INSERT INTO "execution_counts" VALUES(498645,'','echo','succeeded','',74,1);
INSERT INTO "execution_counts" VALUES(498645,'','echo','succeeded','',81,1);
INSERT INTO "execution_counts" VALUES(498645,'','echo','succeeded','',89,1);
INSERT INTO "execution_counts" VALUES(498645,'','echo','succeeded','',111,1);
INSERT INTO "execution_counts" VALUES(498645,'','fails','failed','execution_failed',125,1);
INSERT INTO "execution_counts" VALUES(498645,'','kept','refused','missing',94,1);
INSERT INTO "execution_counts" VALUES(498645,'','kept','succeeded','',103,1);
INSERT INTO "execution_counts" VALUES(498645,'','limited','refused','rate_limited',67,1);
INSERT INTO "execution_counts" VALUES(498645,'','limited','succeeded','',95,1);
INSERT INTO "execution_counts" VALUES(498645,'','math_eval','failed','execution_failed',100,1);
INSERT INTO "execution_counts" VALUES(498645,'','math_eval','succeeded','',98,1);
INSERT INTO "execution_counts" VALUES(498645,'','note','succeeded','',158,1);
INSERT INTO "execution_counts" VALUES(498645,'','once','refused','idempotency_conflict',109,1);
INSERT INTO "execution_counts" VALUES(498645,'','once','succeeded','',125,2);
INSERT INTO "execution_counts" VALUES(498645,'','print','succeeded','',202,1);
INSERT INTO "execution_counts" VALUES(498645,'','replaced','succeeded','',126,1);
INSERT INTO "execution_counts" VALUES(498645,'','tried','failed','contract_violation',129,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','','refused','tool_not_found',90,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','dies','in_doubt','in_doubt',101,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','echo','succeeded','',66,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','echo','succeeded','',74,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','echo','succeeded','',89,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','echo','succeeded','',111,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','fails','failed','execution_failed',125,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','kept','refused','missing',94,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','kept','succeeded','',103,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','limited','refused','rate_limited',67,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','limited','succeeded','',95,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','math_eval','failed','execution_failed',100,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','math_eval','succeeded','',98,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','note','succeeded','',158,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','once','refused','idempotency_conflict',109,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','once','succeeded','',125,2);
INSERT INTO "execution_counts" VALUES(498645,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','print','succeeded','',202,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','replaced','succeeded','',126,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','tried','failed','contract_violation',129,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f5ae-d2d5-71ad-b41e-893854626b47','','refused','tool_not_found',80,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f5ae-d2d5-71ad-b41e-893854626b47','echo','succeeded','',68,1);
INSERT INTO "execution_counts" VALUES(498645,'01a1f5ae-d2d5-71ad-b41e-893854626b47','echo','succeeded','',81,1);
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
INSERT INTO "executions" VALUES('01a1f5aed2917ce3bfa4421ce9ffe44c','echo','succeeded','2026-11-19 21:20:37.521796','2026-11-19 21:20:37.522031',0.202,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1f5ae-d291-7ce3-bfa4-421ce9ffe44c',NULL,NULL,'860307b1b6c05f11f8e59ef259c7ebbb',NULL,NULL,NULL,NULL,NULL,NULL,1,4,'65b84a70aa410b77d6baf3bdf7bd89d0',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f5aed2927feeb98268cb2bdc7040','kept','succeeded','2026-11-19 21:20:37.522993','2026-11-19 21:20:37.523483',0.472,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','admin','library','plain',1,'01a1f5ae-d278-75c5-82f1-cff97349ddb4',1,'mock',NULL,NULL,'01a1f5ae-d292-7fee-b982-68cb2bdc7040',NULL,NULL,'e57910239ca660a95ba5fafb973c1b53','{"text":"a ☃ and a 😀, \"quoted\", \\ and a\nline","number":-1.5e+300}',NULL,NULL,NULL,NULL,NULL,1,5,'2e29ffd42dac2f95d157b60db8b6a60e',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f5aed2947a6f85404b3a637ad7aa','fails','failed','2026-11-19 21:20:37.524648','2026-11-19 21:20:37.526443',1.766,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','admin','library','plain',1,'292d6f6c-a238-532d-ba7c-02469f556f4e',1,'internal',NULL,NULL,'01a1f5ae-d294-7a6f-8540-4b3a637ad7aa','execution_failed','cannot do a ☃ and a 😀, "quoted", \ and a
line','860307b1b6c05f11f8e59ef259c7ebbb',NULL,NULL,NULL,NULL,NULL,NULL,1,6,'56b85094f5631468d05ae74c40597b0b',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f5aed29776739ee60b56ba64c1c6','math_eval','failed','2026-11-19 21:20:37.527400','2026-11-19 21:20:37.527821',0.402,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','admin','library','plain',1,'4f56c6ab-4df0-5007-b192-54f29c273c7e',1,'builtin',NULL,NULL,'01a1f5ae-d297-7673-9ee6-0b56ba64c1c6','execution_failed','Division by zero at position 2; change the divisor','b9df76bd912d22a8da2132c9e4af9a1f',NULL,NULL,NULL,NULL,NULL,NULL,1,7,'4ab73e78e9a146c6251669e73b675261',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f5aed298794fbdd500b6e5847885','kept','refused','2026-11-19 21:20:37.528579','2026-11-19 21:20:37.528876',0.28,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','admin','library','plain',0,'01a1f5ae-d278-75c5-82f1-cff97349ddb4',1,'mock',NULL,NULL,'01a1f5ae-d298-794f-bdd5-00b6e5847885','missing','Invalid parameters: missing ''text''',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,8,'827cd4e36effc89ebe939b964ceb6340',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f5aed2997982b1f6b9217ccd7c06','no_such_tool','refused','2026-11-19 21:20:37.529592','2026-11-19 21:20:37.529828',0.22,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','admin','library','plain',0,NULL,NULL,NULL,NULL,NULL,'01a1f5ae-d299-7982-b1f6-b9217ccd7c06','tool_not_found','Tool ''no_such_tool'' not found',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,9,'d2c874b90c640665acb8a29e089cf288',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f5aed29a78b3bd06c9e8919a1fa2','limited','succeeded','2026-11-19 21:20:37.530542','2026-11-19 21:20:37.530852',0.299,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','admin','library','plain',1,'01a1f5ae-d284-7d69-826a-990684f2d690',1,'mock',NULL,NULL,'01a1f5ae-d29a-78b3-bd06-c9e8919a1fa2',NULL,NULL,'59ca125efb3a026b6ddb9a8c4e3a7840',NULL,NULL,NULL,NULL,NULL,NULL,1,10,'2f7862d1781cfe95bea499d3baf06d7a',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f5aed29b785e9a171e89848d12cf','limited','refused','2026-11-19 21:20:37.531521','2026-11-19 21:20:37.531587',0.055,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','admin','library','plain',0,'01a1f5ae-d284-7d69-826a-990684f2d690',1,'mock',NULL,NULL,'01a1f5ae-d29b-785e-9a17-1e89848d12cf','rate_limited','Rate limit of ''limited'' reached: 1 call per hour; try again in 3600 s','5566b9fe29d73db46d7b71706a593b40',NULL,NULL,NULL,NULL,NULL,NULL,1,11,'acb75dac726d47598f35dee39176acb6',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f5aed36873fda0d21b91100a2ec3','echo','succeeded','2026-11-19 21:20:37.736247','2026-11-19 21:20:37.736399',0.126,'01a1f5ae-d2d5-71ad-b41e-893854626b47','ada','rest','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin','01a1f5ae-d2df-796f-8495-d2808f59fb8a',NULL,'request-1',NULL,NULL,'1d8e2d5e82fdc80a3a0592512e3cf46d',NULL,NULL,NULL,NULL,NULL,NULL,1,12,'ac812b4a9eba2988df4b555d3794d658',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f5aed3697bae903929baed5a4ae4','echo','refused','2026-11-19 21:20:37.737728','2026-11-19 21:20:37.737859',0.117,'01a1f5ae-d2d5-71ad-b41e-893854626b47','ada','rest','plain',0,NULL,NULL,NULL,'01a1f5ae-d35e-79fe-b714-5c10224ce023','01a1f5ae-d2e8-7007-8e02-97a7a2ffa4bb','01a1f5ae-d369-7bae-9039-29baed5a4ae4','tool_not_found','Tool ''echo'' not found',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,13,'3b9a746260c0dea44c807ce80afb936c',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f5aed36b7d4c9ea93187145203f8','echo','succeeded','2026-11-19 21:20:37.739829','2026-11-19 21:20:37.739897',0.056,'01a1f5ae-d2d5-71ad-b41e-893854626b47','ada','rest','openai_chat',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin','01a1f5ae-d2df-796f-8495-d2808f59fb8a',NULL,'01a1f5ae-d36b-7944-ac7b-8331ad9acac3',NULL,NULL,'413590c7e0286385732c0a3eb6e591e6',NULL,NULL,NULL,NULL,NULL,NULL,1,14,'ef8c71876c91079095be022f12ebb645',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f5aed36e77cc967709553d51bd40','once','succeeded','2026-11-19 21:20:37.742485','2026-11-19 21:20:37.744273',1.775,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','admin','library','plain',1,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1f5ae-d36e-77cc-9677-09553d51bd40',NULL,NULL,'2bd7d018fcc71e89bcb24a7cc87c7838',NULL,NULL,NULL,NULL,NULL,'"A"',1,15,'8d6b2199103cc750101563efaac67d52',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f5aed371729a9139001de6133607','once','succeeded','2026-11-19 21:20:37.745161','2026-11-19 21:20:37.745881',1.775,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','admin','library','plain',0,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1f5ae-d371-729a-9139-001de6133607',NULL,NULL,'2bd7d018fcc71e89bcb24a7cc87c7838',NULL,NULL,NULL,NULL,'01a1f5ae-d36e-77cc-9677-09553d51bd40','"A"',1,16,'9dddc37e7bcc733c0f36fcb931e3d3ae',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f5aed3727836b7b1d6b9e613292e','once','refused','2026-11-19 21:20:37.746511','2026-11-19 21:20:37.747217',0.691,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','admin','library','plain',0,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1f5ae-d372-7836-b7b1-d6b9e613292e','idempotency_conflict','This idempotency key was used for ''once'' with other arguments; send the same arguments again, or a new key for a new call','9285066905ef1b94acd32239434f80b6',NULL,NULL,NULL,NULL,NULL,NULL,1,17,'a6da1905699bbd20585ad32402813a21',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f5aed37676ae8bb16808345f1f67','tried','failed','2026-11-19 21:20:37.750415','2026-11-19 21:20:37.752622',2.186,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','admin','library','plain',2,'47fe7a73-0ae4-5d70-aa28-58a231407683',1,'internal',NULL,NULL,'01a1f5ae-d376-76ae-8bb1-6808345f1f67','contract_violation','The tool''s output breaks its output schema: The output must be an integer','00398cb23fa305cb3726f60d72667a41',NULL,NULL,NULL,NULL,NULL,NULL,1,18,'d11d8ed0faeef27a546bf15a8bfce955',NULL,'[{"attempt":1,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":0.634},{"attempt":2,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":0.26}]');
INSERT INTO "executions" VALUES('01a1f5aed37976cfad21fcefcd884f3d','replaced','succeeded','2026-11-19 21:20:37.753423','2026-11-19 21:20:37.755342',1.904,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','admin','library','plain',2,'0b58c42c-a575-56ea-8e61-45f3fdeaeca4',1,'internal',NULL,NULL,'01a1f5ae-d379-76cf-ad21-fcefcd884f3d',NULL,NULL,'00398cb23fa305cb3726f60d72667a41',NULL,NULL,NULL,NULL,NULL,NULL,1,19,'9f0a7b0637169788c60208856d69533d',NULL,'[{"attempt":1,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":0.509},{"attempt":2,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":0.309}]');
INSERT INTO "executions" VALUES('01a1f5aed3917ee6a1caec0843c9d28b','note','succeeded','2026-11-19 21:20:37.777928','2026-11-19 21:20:37.790488',12.541,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','admin','library','plain',1,'01a1f5ae-d37d-7640-88cf-8792a1ac27b6',1,'table',NULL,NULL,'01a1f5ae-d391-7ee6-a1ca-ec0843c9d28b',NULL,NULL,'db9c136a4af2d9394d75044098bb9b15',NULL,'1',NULL,NULL,NULL,NULL,2,1,'1133c76414e64756da3722d62334d08c',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f5aed39f7b6794b55e63577b1b6c','print','succeeded','2026-11-19 21:20:37.791710','2026-11-19 21:20:37.967438',175.687,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','admin','library','plain',1,'01a1f5ae-d386-7696-8cff-b9b7aa34be68',1,'python',NULL,NULL,'01a1f5ae-d39f-7b67-94b5-5e63577b1b6c',NULL,NULL,'7d6f107ce4bbc1a3aef815d9964488be',NULL,NULL,NULL,NULL,NULL,NULL,1,20,'b9647f496bc17257740b19a88c9d4eaf','printed text
',NULL);
INSERT INTO "executions" VALUES('01a1f5aed4517cf4bca5a2a1f086896f','math_eval','succeeded','2026-11-19 21:20:37.969832','2026-11-19 21:20:37.970186',0.34,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','admin','library','plain',1,'4f56c6ab-4df0-5007-b192-54f29c273c7e',1,'builtin',NULL,NULL,'01a1f5ae-d451-7cf4-bca5-a2a1f086896f',NULL,NULL,'241958ea602c738a5499934b69cc9920',NULL,NULL,'01a1f5ae-d451-79b4-b0f1-812f0b368039',NULL,NULL,NULL,1,21,'b5e2859996cd7023b3eb482b9c943a7e',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f5aed453709996da0c9a97fcc15c','echo','succeeded','2026-11-19 21:20:37.971053','2026-11-19 21:20:37.971148',0.083,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1f5ae-d453-7099-96da-0c9a97fcc15c',NULL,NULL,'c2d9e4e587d5e029e0e5f46ba83e0246',NULL,NULL,'01a1f5ae-d451-79b4-b0f1-812f0b368039',NULL,NULL,NULL,1,22,'8ece90224e3aac5ec3e166be053e7502',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f5aed4587bfe8e3254d8aa77ac5f','echo','succeeded','2026-11-19 21:20:37.976747','2026-11-19 21:20:37.976812',0.052,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1f5ae-d458-7bfe-8e32-54d8aa77ac5f',NULL,NULL,'0ed4525c6d1c00d998edea8ef856a599',NULL,NULL,NULL,'01a1f5ae-d453-7eea-aa7d-1ebe0e201d57',NULL,NULL,1,23,'53895ebe40ebe21ec969c49b655b0b98',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f5aedb1e7272b7ab5b0ec5940c3d','dies','in_doubt','2026-11-19 21:20:39.710147','2026-11-19 21:20:39.749163',0.428,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','admin','library','plain',1,'301f3051-930d-5d5d-ae86-e078a5b82b33',1,'internal',NULL,NULL,'01a1f5ae-db1e-7272-b7ab-5b0ec5940c3d','in_doubt','The server ended while this call was running; whether it took effect is not known','00398cb23fa305cb3726f60d72667a41',NULL,NULL,NULL,NULL,NULL,NULL,4,1,'1a7e82cac82f043f6f112d6469ba97ff',NULL,NULL);
INSERT INTO "executions" VALUES('01a1f5aee25679eabd6fad7cd73ba265','echo','succeeded','2026-11-19 21:20:41.558613','2026-11-19 21:20:41.559391',0.739,'01a1f5ae-d221-789e-86de-f90c3d7c2f6d','admin','cli','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1f5ae-e256-79ea-bd6f-ad7cd73ba265',NULL,NULL,'1129a361ad0d50b7c30c74660e0c261c',NULL,NULL,NULL,NULL,NULL,NULL,5,1,'fe4780ac3ef9ac3cdbb9eefaf95d4470',NULL,NULL);
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
INSERT INTO "intents" VALUES('01a1f5aed36e77cc967709553d51bd40',1,'done','',0,'3cb75def81709813d335dd3cf5bddedd66f5c5c18a855e48b0eaf9a33756af69','2bd7d018fcc71e89bcb24a7cc87c7838','pb1:b3457b1d:FqlcQPVIHwb97COIUEet0PrNlHpm3uz6qPHx8m_ZIMaDI4gM7mS4DRnxM_Rk6jleHoix_q35sYjV0IhH5L7agoWxvH2ep91WkLtFHoDL1JCQfBftLLLoBDUeQimTMwOzPzYkEGX253gyt6IW_L8AOIcpESlROUNfhfuESo12ef7wmuFSmyIX','2026-11-20 21:20:37.742719','fa8d472ca08b8424adf6087031718c81','ec248b1440a2509952cf7634c0ef24d7',NULL);
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
INSERT INTO "messages" VALUES('01a1f5aed4537eeaaa7d1ebe0e201d57',0,'01a1f5aed45b7a7ab13f87ee1ecc9109','assistant',NULL,'2026-11-19 21:20:37.977589','[{"id":"call_01a1f5aed4587bfe8e3254d8aa77ac5f","name":"echo","arguments":{"text":"thread"},"result":{"echo":{"text":"thread"}},"duration_ms":0.052,"attempts":1,"run_id":"01a1f5ae-d458-7bfe-8e32-54d8aa77ac5f","result_valid":true}]','plain',NULL);
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
INSERT INTO "secrets" VALUES('01a1f5aed2237f58abc683feb8955fb2',1,'2026-11-19 21:20:37.411956','2026-11-19 21:20:37.411956','01a1f5aed221789e86def90c3d7c2f6d','$root','pb1:b3457b1d:L6U_mDXcX0QkHyx1YM6ApFZ4k4PnUCbH7Kpwn7OD4At64ozB7RwZ7db098OEouOvYxYuV6_gs7UB1DCdsCWmkNtRlVZQAXwZZUlAUavDAw');
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
INSERT INTO "threads" VALUES('01a1f5aed4537eeaaa7d1ebe0e201d57','01a1f5aed221789e86def90c3d7c2f6d','golden',1,'2026-11-19 21:20:37.971930','2026-11-19 21:20:37.977723',NULL);
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
INSERT INTO "tool_versions" VALUES('01a1f5aed231797eafe145da39f4fdb6','4f56c6ab4df05007b19254f29c273c7e',1,'{"name": "math_eval", "tool_type": "builtin", "config": {"operation": "math_eval"}, "input_schema": {"type": "object", "properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "The expression to evaluate.", "examples": ["2+2", "(1 + 0.05)^10 * 1000", "sqrt(3^2 + 4^2)", "sin(radians(30))"]}}, "required": ["expression"], "examples": [{"expression": "(1 + 0.05)^10 * 1000"}]}, "description": "Evaluates one arithmetic expression and returns the number. Use it for any calculation beyond trivial mental arithmetic instead of working it out yourself. Operators: + - * / // (floor division) % (modulo, not percent) ^ or ** (power) and ! (factorial). Constants: pi, e, tau. Functions: sqrt, cbrt, abs, round, floor, ceil, trunc, sign, exp, log, ln, log2, log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, min, max, sum, mean, pow, mod, gcd, lcm, factorial, hypot, degrees, radians. Angles are in radians; log is natural unless written log(x, base). There are no variables, comparisons, lists or units, and numbers are written without thousands separators.", "output_schema": {"type": "object", "properties": {"result": {"type": "number", "description": "The value; whole numbers beyond 64 bits are rounded to a floating-point number."}}, "required": ["result"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Calculator", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 21:20:37.420272','01a1f5ae-d221-789e-86de-f90c3d7c2f6d');
INSERT INTO "tool_versions" VALUES('01a1f5aed23179eabefbf46317499e9e','6b6d2eda2c7950659ce66502d73cc282',1,'{"name": "echo", "tool_type": "builtin", "config": {"operation": "echo"}, "input_schema": {"type": "object", "additionalProperties": true, "examples": [{"message": "hello"}]}, "description": "Returns exactly the arguments it was called with, under `echo`. Use it to check that tool calls work and how your arguments arrive; it does nothing else.", "output_schema": {"type": "object", "properties": {"echo": {"type": "object", "description": "The arguments of the call."}}, "required": ["echo"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Echo", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 21:20:37.420272','01a1f5ae-d221-789e-86de-f90c3d7c2f6d');
INSERT INTO "tool_versions" VALUES('01a1f5aed2317a1a94b563a169c95221','85f568ed8cd35e11a508d3927f353e28',1,'{"name": "calculate_rsi", "tool_type": "builtin", "config": {"operation": "calculate_rsi"}, "input_schema": {"type": "object", "properties": {"prices": {"type": "array", "items": {"type": "number", "minimum": -1e+300, "maximum": 1e+300}, "minItems": 2, "maxItems": 100000, "description": "Closing prices, oldest first; at least period + 1.", "examples": [[44.34, 44.09, 44.15, 43.61, 44.33]]}, "period": {"type": "integer", "minimum": 1, "maximum": 99999, "default": 14, "description": "How many price changes are averaged; 14 is usual."}, "overbought": {"type": "number", "minimum": 0, "maximum": 100, "default": 70, "description": "The RSI from which on the answer''s `overbought` is true."}, "oversold": {"type": "number", "minimum": 0, "maximum": 100, "default": 30, "description": "The RSI down from which the answer''s `oversold` is true."}, "include_series": {"type": "boolean", "default": true, "description": "false leaves `series` out of the answer: shorter when only the last value matters."}}, "required": ["prices"], "examples": [{"prices": [44.34, 44.09, 44.15, 43.61, 44.33], "period": 3}]}, "description": "Calculates the relative strength index (RSI) of a series of prices, with Wilder''s smoothing, and says whether the last value is overbought or oversold. Give the closing prices oldest first, at least period + 1 of them; around 100 or more make the smoothing settle. It fetches no prices: you must have them already.", "output_schema": {"type": "object", "properties": {"rsi": {"type": "number", "minimum": 0, "maximum": 100, "description": "The RSI at the last price."}, "overbought": {"type": "boolean", "description": "Whether `rsi` is at or above the threshold."}, "oversold": {"type": "boolean", "description": "Whether `rsi` is at or below the threshold."}, "period": {"type": "integer", "description": "The period that was used."}, "series": {"type": "array", "items": {"type": ["number", "null"]}, "description": "The RSI at every price, as many as `prices`; null for the first `period` of them."}}, "required": ["rsi", "overbought", "oversold", "period"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Calculate RSI", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 21:20:37.420272','01a1f5ae-d221-789e-86de-f90c3d7c2f6d');
INSERT INTO "tool_versions" VALUES('01a1f5aed2317a418942cd1543be97de','41a86778e8bd54c69de12c75630f7f9e',1,'{"name": "current_time", "tool_type": "builtin", "config": {"operation": "current_time"}, "input_schema": {"type": "object", "properties": {"timezone": {"type": "string", "maxLength": 64, "default": "UTC", "description": "An IANA time zone name.", "examples": ["UTC", "Europe/Berlin", "America/New_York"]}}, "examples": [{}, {"timezone": "Europe/Berlin"}]}, "description": "Returns the current date, time and weekday, in UTC or in the time zone you name. Call it whenever an answer depends on what day or time it is now; you cannot know that otherwise.", "output_schema": {"type": "object", "properties": {"iso": {"type": "string", "format": "date-time", "description": "ISO 8601, with the zone''s offset."}, "unix": {"type": "integer", "description": "Seconds since 1970-01-01T00:00:00Z."}, "timezone": {"type": "string", "description": "The time zone of `iso`, `date`, `time` and `weekday`."}, "abbreviation": {"type": ["string", "null"], "description": "What the zone is called now, such as CEST."}, "date": {"type": "string", "format": "date"}, "time": {"type": "string", "description": "HH:MM:SS, on a 24-hour clock."}, "weekday": {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]}}, "required": ["iso", "unix", "timezone", "date", "time", "weekday"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Current Time", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 21:20:37.420272','01a1f5ae-d221-789e-86de-f90c3d7c2f6d');
INSERT INTO "tool_versions" VALUES('01a1f5aed2317a6390ed8629604bca80','9e60bc7b2e6952c6bbf20b00e3006074',1,'{"name": "json_query", "tool_type": "builtin", "config": {"operation": "json_query"}, "input_schema": {"type": "object", "properties": {"data": {"description": "The JSON value to query: an object or array, not a string with JSON in it."}, "query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The JMESPath expression.", "examples": ["items[0].name", "items[?price > `10`].{name: name, price: price}", "sort_by(items, &price)[-1]", "length(items)"]}}, "required": ["data", "query"], "examples": [{"data": {"items": [{"name": "a", "price": 5}, {"name": "b", "price": 20}]}, "query": "items[?price > `10`]"}]}, "description": "Selects, filters, sorts and reshapes parts of a JSON value with a JMESPath query, and returns what it finds; null if nothing matches. Use it to get a few values out of a large JSON result without copying it by hand. Numbers in a query stand in backticks (`10`), strings in single quotes (''red''). It has no arithmetic.", "output_schema": {"type": "object", "properties": {"result": {"description": "What the query selects; null if nothing matches."}}, "required": ["result"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "JSON Query", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 21:20:37.420272','01a1f5ae-d221-789e-86de-f90c3d7c2f6d');
INSERT INTO "tool_versions" VALUES('01a1f5aed2317a868d209649d7fe45ae','492cf430bf41555ebdbdf302bf383784',1,'{"name": "query_baseline", "tool_type": "internal", "config": {"handler": "query_baseline"}, "input_schema": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "query_type": {"type": "string", "enum": ["baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": ["finding_id", "composite_hash", "query_type"], "additionalProperties": false}, "description": "Return whether a finding is new, recurring or resolved, since when, and how often it was seen. Read-only.", "output_schema": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Query baseline", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 21:20:37.420272','01a1f5ae-d221-789e-86de-f90c3d7c2f6d');
INSERT INTO "tool_versions" VALUES('01a1f5aed2317aa689384f5dda331643','3d387905ae305c2882a8c97f9e4aa8d1',1,'{"name": "batch_baseline_query", "tool_type": "internal", "config": {"handler": "batch_baseline_query"}, "input_schema": {"type": "object", "properties": {"finding_ids": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "maxItems": 10000, "description": "What you call the findings"}, "composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "Their hashes, one for each of finding_ids in the same order"}, "query_type": {"type": "string", "enum": ["batch_baseline_check", "baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the same answer"}, "batch_size": {"type": "integer", "minimum": 1, "maximum": 10000, "description": "How many are looked up in one statement; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": ["finding_ids", "composite_hashes", "query_type"], "additionalProperties": false}, "description": "Return whether each of up to 10,000 findings is known, in the order of the request. Read-only.", "output_schema": {"type": "object", "properties": {"results": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}}}, "required": ["results"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Query baseline for many", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": 33554432, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 21:20:37.420272','01a1f5ae-d221-789e-86de-f90c3d7c2f6d');
INSERT INTO "tool_versions" VALUES('01a1f5aed2317aca8247bd412c829008','86374af31257591dbc5f4666a9fd2d72',1,'{"name": "record_findings", "tool_type": "internal", "config": {"handler": "record_findings"}, "input_schema": {"type": "object", "properties": {"findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["finding_id", "composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "What was seen"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": ["findings"], "additionalProperties": false}, "description": "Record that findings were seen. Each call counts as one sighting; a resolved finding that is seen again recurs.", "output_schema": {"type": "object", "properties": {"recorded": {"type": "integer", "minimum": 0}, "new": {"type": "integer", "minimum": 0}, "recurring": {"type": "integer", "minimum": 0}, "reopened": {"type": "integer", "minimum": 0}}, "required": ["recorded", "new", "recurring", "reopened"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Record findings", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 21:20:37.420272','01a1f5ae-d221-789e-86de-f90c3d7c2f6d');
INSERT INTO "tool_versions" VALUES('01a1f5aed2317aed9befa865696ff856','42944903dad95a33ae7df27da4aa4324',1,'{"name": "resolve_findings", "tool_type": "internal", "config": {"handler": "resolve_findings"}, "input_schema": {"type": "object", "properties": {"composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "The hashes of the findings"}, "findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "The findings"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": [], "additionalProperties": false}, "description": "Mark findings as resolved until they are seen again. Pass either composite_hashes or findings.", "output_schema": {"type": "object", "properties": {"resolved": {"type": "integer", "minimum": 0}, "already_resolved": {"type": "integer", "minimum": 0}, "unknown": {"type": "integer", "minimum": 0}}, "required": ["resolved", "already_resolved", "unknown"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Resolve findings", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 21:20:37.420272','01a1f5ae-d221-789e-86de-f90c3d7c2f6d');
INSERT INTO "tool_versions" VALUES('01a1f5aed27c7de2a11b18b3f1d374c2','01a1f5aed27875c582f1cff97349ddb4',1,'{"name": "kept", "tool_type": "mock", "config": {"mock_response": {"sky": "clear"}}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden kept", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": true, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 21:20:37.496357','01a1f5ae-d221-789e-86de-f90c3d7c2f6d');
INSERT INTO "tool_versions" VALUES('01a1f5aed2887184a80a3af04814cd7e','01a1f5aed2847d69826a990684f2d690',1,'{"name": "limited", "tool_type": "mock", "config": {"mock_response": 1}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden limited", "output_schema": null, "rate_limit": {"max_calls": 1, "period": "hour", "burst": null, "scope": "caller"}, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 21:20:37.508835','01a1f5ae-d221-789e-86de-f90c3d7c2f6d');
INSERT INTO "tool_versions" VALUES('01a1f5aed3817593812f9c543f6dffb7','01a1f5aed37d764088cf8792a1ac27b6',1,'{"name": "note", "tool_type": "table", "config": {"tableName": "notes", "fields": [{"name": "text", "dataType": "text"}]}, "input_schema": {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"text": {"type": ["string", "null"]}}, "required": [], "additionalProperties": false}, "description": "Golden note", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "reject", "result_style": "detailed", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 21:20:37.757386','01a1f5ae-d221-789e-86de-f90c3d7c2f6d');
INSERT INTO "tool_versions" VALUES('01a1f5aed3897e07a013a4697067631a','01a1f5aed38676968cffb9b7aa34be68',1,'{"name": "print", "tool_type": "python", "config": {"code": "def show(text: str) -> str:\n    print(''printed'', text)\n    return text\n"}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden print", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-19 21:20:37.766409','01a1f5ae-d221-789e-86de-f90c3d7c2f6d');
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
INSERT INTO "tools" VALUES('4f56c6ab4df05007b19254f29c273c7e',1,'2026-11-19 21:20:37.420272','2026-11-19 21:20:37.420272',0,NULL,'01a1f5aed221789e86def90c3d7c2f6d','math_eval','Evaluates one arithmetic expression and returns the number. Use it for any calculation beyond trivial mental arithmetic instead of working it out yourself. Operators: + - * / // (floor division) % (modulo, not percent) ^ or ** (power) and ! (factorial). Constants: pi, e, tau. Functions: sqrt, cbrt, abs, round, floor, ceil, trunc, sign, exp, log, ln, log2, log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, min, max, sum, mean, pow, mod, gcd, lcm, factorial, hypot, degrees, radians. Angles are in radians; log is natural unless written log(x, base). There are no variables, comparisons, lists or units, and numbers are written without thousands separators.','builtin','{"operation": "math_eval"}','{"type": "object", "properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "The expression to evaluate.", "examples": ["2+2", "(1 + 0.05)^10 * 1000", "sqrt(3^2 + 4^2)", "sin(radians(30))"]}}, "required": ["expression"], "examples": [{"expression": "(1 + 0.05)^10 * 1000"}]}','{"type": "object", "properties": {"result": {"type": "number", "description": "The value; whole numbers beyond 64 bits are rounded to a floating-point number."}}, "required": ["result"]}',NULL,NULL,1,1,1,'Calculator','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('6b6d2eda2c7950659ce66502d73cc282',1,'2026-11-19 21:20:37.420272','2026-11-19 21:20:37.420272',0,NULL,'01a1f5aed221789e86def90c3d7c2f6d','echo','Returns exactly the arguments it was called with, under `echo`. Use it to check that tool calls work and how your arguments arrive; it does nothing else.','builtin','{"operation": "echo"}','{"type": "object", "additionalProperties": true, "examples": [{"message": "hello"}]}','{"type": "object", "properties": {"echo": {"type": "object", "description": "The arguments of the call."}}, "required": ["echo"]}',NULL,NULL,1,1,1,'Echo','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('85f568ed8cd35e11a508d3927f353e28',1,'2026-11-19 21:20:37.420272','2026-11-19 21:20:37.420272',0,NULL,'01a1f5aed221789e86def90c3d7c2f6d','calculate_rsi','Calculates the relative strength index (RSI) of a series of prices, with Wilder''s smoothing, and says whether the last value is overbought or oversold. Give the closing prices oldest first, at least period + 1 of them; around 100 or more make the smoothing settle. It fetches no prices: you must have them already.','builtin','{"operation": "calculate_rsi"}','{"type": "object", "properties": {"prices": {"type": "array", "items": {"type": "number", "minimum": -1e+300, "maximum": 1e+300}, "minItems": 2, "maxItems": 100000, "description": "Closing prices, oldest first; at least period + 1.", "examples": [[44.34, 44.09, 44.15, 43.61, 44.33]]}, "period": {"type": "integer", "minimum": 1, "maximum": 99999, "default": 14, "description": "How many price changes are averaged; 14 is usual."}, "overbought": {"type": "number", "minimum": 0, "maximum": 100, "default": 70, "description": "The RSI from which on the answer''s `overbought` is true."}, "oversold": {"type": "number", "minimum": 0, "maximum": 100, "default": 30, "description": "The RSI down from which the answer''s `oversold` is true."}, "include_series": {"type": "boolean", "default": true, "description": "false leaves `series` out of the answer: shorter when only the last value matters."}}, "required": ["prices"], "examples": [{"prices": [44.34, 44.09, 44.15, 43.61, 44.33], "period": 3}]}','{"type": "object", "properties": {"rsi": {"type": "number", "minimum": 0, "maximum": 100, "description": "The RSI at the last price."}, "overbought": {"type": "boolean", "description": "Whether `rsi` is at or above the threshold."}, "oversold": {"type": "boolean", "description": "Whether `rsi` is at or below the threshold."}, "period": {"type": "integer", "description": "The period that was used."}, "series": {"type": "array", "items": {"type": ["number", "null"]}, "description": "The RSI at every price, as many as `prices`; null for the first `period` of them."}}, "required": ["rsi", "overbought", "oversold", "period"]}',NULL,NULL,1,1,1,'Calculate RSI','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('41a86778e8bd54c69de12c75630f7f9e',1,'2026-11-19 21:20:37.420272','2026-11-19 21:20:37.420272',0,NULL,'01a1f5aed221789e86def90c3d7c2f6d','current_time','Returns the current date, time and weekday, in UTC or in the time zone you name. Call it whenever an answer depends on what day or time it is now; you cannot know that otherwise.','builtin','{"operation": "current_time"}','{"type": "object", "properties": {"timezone": {"type": "string", "maxLength": 64, "default": "UTC", "description": "An IANA time zone name.", "examples": ["UTC", "Europe/Berlin", "America/New_York"]}}, "examples": [{}, {"timezone": "Europe/Berlin"}]}','{"type": "object", "properties": {"iso": {"type": "string", "format": "date-time", "description": "ISO 8601, with the zone''s offset."}, "unix": {"type": "integer", "description": "Seconds since 1970-01-01T00:00:00Z."}, "timezone": {"type": "string", "description": "The time zone of `iso`, `date`, `time` and `weekday`."}, "abbreviation": {"type": ["string", "null"], "description": "What the zone is called now, such as CEST."}, "date": {"type": "string", "format": "date"}, "time": {"type": "string", "description": "HH:MM:SS, on a 24-hour clock."}, "weekday": {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]}}, "required": ["iso", "unix", "timezone", "date", "time", "weekday"]}',NULL,NULL,1,1,1,'Current Time','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('9e60bc7b2e6952c6bbf20b00e3006074',1,'2026-11-19 21:20:37.420272','2026-11-19 21:20:37.420272',0,NULL,'01a1f5aed221789e86def90c3d7c2f6d','json_query','Selects, filters, sorts and reshapes parts of a JSON value with a JMESPath query, and returns what it finds; null if nothing matches. Use it to get a few values out of a large JSON result without copying it by hand. Numbers in a query stand in backticks (`10`), strings in single quotes (''red''). It has no arithmetic.','builtin','{"operation": "json_query"}','{"type": "object", "properties": {"data": {"description": "The JSON value to query: an object or array, not a string with JSON in it."}, "query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The JMESPath expression.", "examples": ["items[0].name", "items[?price > `10`].{name: name, price: price}", "sort_by(items, &price)[-1]", "length(items)"]}}, "required": ["data", "query"], "examples": [{"data": {"items": [{"name": "a", "price": 5}, {"name": "b", "price": 20}]}, "query": "items[?price > `10`]"}]}','{"type": "object", "properties": {"result": {"description": "What the query selects; null if nothing matches."}}, "required": ["result"]}',NULL,NULL,1,1,1,'JSON Query','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('492cf430bf41555ebdbdf302bf383784',1,'2026-11-19 21:20:37.420272','2026-11-19 21:20:37.420272',0,NULL,'01a1f5aed221789e86def90c3d7c2f6d','query_baseline','Return whether a finding is new, recurring or resolved, since when, and how often it was seen. Read-only.','internal','{"handler": "query_baseline"}','{"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "query_type": {"type": "string", "enum": ["baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": ["finding_id", "composite_hash", "query_type"], "additionalProperties": false}','{"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}',NULL,NULL,1,1,1,'Query baseline','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('3d387905ae305c2882a8c97f9e4aa8d1',1,'2026-11-19 21:20:37.420272','2026-11-19 21:20:37.420272',0,NULL,'01a1f5aed221789e86def90c3d7c2f6d','batch_baseline_query','Return whether each of up to 10,000 findings is known, in the order of the request. Read-only.','internal','{"handler": "batch_baseline_query"}','{"type": "object", "properties": {"finding_ids": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "maxItems": 10000, "description": "What you call the findings"}, "composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "Their hashes, one for each of finding_ids in the same order"}, "query_type": {"type": "string", "enum": ["batch_baseline_check", "baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the same answer"}, "batch_size": {"type": "integer", "minimum": 1, "maximum": 10000, "description": "How many are looked up in one statement; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": ["finding_ids", "composite_hashes", "query_type"], "additionalProperties": false}','{"type": "object", "properties": {"results": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}}}, "required": ["results"], "additionalProperties": false}',NULL,NULL,1,1,1,'Query baseline for many','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,1,0,0,33554432,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('86374af31257591dbc5f4666a9fd2d72',1,'2026-11-19 21:20:37.420272','2026-11-19 21:20:37.420272',0,NULL,'01a1f5aed221789e86def90c3d7c2f6d','record_findings','Record that findings were seen. Each call counts as one sighting; a resolved finding that is seen again recurs.','internal','{"handler": "record_findings"}','{"type": "object", "properties": {"findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["finding_id", "composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "What was seen"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": ["findings"], "additionalProperties": false}','{"type": "object", "properties": {"recorded": {"type": "integer", "minimum": 0}, "new": {"type": "integer", "minimum": 0}, "recurring": {"type": "integer", "minimum": 0}, "reopened": {"type": "integer", "minimum": 0}}, "required": ["recorded", "new", "recurring", "reopened"], "additionalProperties": false}',NULL,NULL,1,1,1,'Record findings','["baseline"]',NULL,'ignore','envelope',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('42944903dad95a33ae7df27da4aa4324',1,'2026-11-19 21:20:37.420272','2026-11-19 21:20:37.420272',0,NULL,'01a1f5aed221789e86def90c3d7c2f6d','resolve_findings','Mark findings as resolved until they are seen again. Pass either composite_hashes or findings.','internal','{"handler": "resolve_findings"}','{"type": "object", "properties": {"composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "The hashes of the findings"}, "findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "The findings"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": true, "description": "Which baseline is meant; anything else in it is ignored"}}, "required": [], "additionalProperties": false}','{"type": "object", "properties": {"resolved": {"type": "integer", "minimum": 0}, "already_resolved": {"type": "integer", "minimum": 0}, "unknown": {"type": "integer", "minimum": 0}}, "required": ["resolved", "already_resolved", "unknown"], "additionalProperties": false}',NULL,NULL,1,1,1,'Resolve findings','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,0,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('01a1f5aed27875c582f1cff97349ddb4',2,'2026-11-19 21:20:37.496357','2026-11-19 21:20:37.496357',0,NULL,'01a1f5aed221789e86def90c3d7c2f6d','kept','Golden kept','mock','{"mock_response": {"sky": "clear"}}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,1,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('01a1f5aed2847d69826a990684f2d690',3,'2026-11-19 21:20:37.508835','2026-11-19 21:20:37.508835',0,NULL,'01a1f5aed221789e86def90c3d7c2f6d','limited','Golden limited','mock','{"mock_response": 1}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,'{"max_calls": 1, "period": "hour", "burst": null, "scope": "caller"}',1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('01a1f5aed37d764088cf8792a1ac27b6',8,'2026-11-19 21:20:37.757386','2026-11-19 21:20:37.757386',0,NULL,'01a1f5aed221789e86def90c3d7c2f6d','note','Golden note','table','{"tableName": "notes", "fields": [{"name": "text", "dataType": "text"}]}','{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"text": {"type": ["string", "null"]}}, "required": [], "additionalProperties": false}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'reject','detailed',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('01a1f5aed38676968cffb9b7aa34be68',9,'2026-11-19 21:20:37.766409','2026-11-19 21:20:37.766409',0,NULL,'01a1f5aed221789e86def90c3d7c2f6d','print','Golden print','python','{"code": "def show(text: str) -> str:\n    print(''printed'', text)\n    return text\n"}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel',NULL);
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
INSERT INTO "users" VALUES('01a1f5aed221789e86def90c3d7c2f6d',1,'2026-11-19 21:20:37.409531','2026-11-19 21:20:37.409531',0,NULL,'admin','admin','5fb5cc7e43f48a2fa8d976dbc8ef072866a722a74fbe4b779db361c3628c880f');
INSERT INTO "users" VALUES('01a1f5aed2d571adb41e893854626b47',4,'2026-11-19 21:20:37.589097','2026-11-19 21:20:37.589097',0,NULL,'ada','member','511f6ad52defe54dcfa6ecf7d91375a0fa8ac354275849aad0f408552e4bcd78');
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
INSERT INTO "writers" VALUES(1,'01a1f5aed23e778080dc0308742d3e1f','vm',32293,'2026-11-19 21:20:37.471016','2026-11-19 21:20:39.768853',31,23,'53895ebe40ebe21ec969c49b655b0b98','cfe322d9aba4b388bae7b6f6346a76c8',3,'580fcd8ea98140b7a390dd3e48b58f56','e2c5623eb5af7c9ad32869b9a88f44e1',23);
INSERT INTO "writers" VALUES(2,'01a1f5aed23e762287573e8b30ed3608','vm',32293,'2026-11-19 21:20:37.788749','2026-11-19 21:20:39.771822',3,1,'1133c76414e64756da3722d62334d08c','aada055dfba4e4c60c4c9b87a7d462d8',0,'','',1);
INSERT INTO "writers" VALUES(3,'01a1f5aedafa7653b261fa8eb4b81b17','vm',32321,'2026-11-19 21:20:39.712787','2026-11-19 21:20:39.748520',1,0,'','084fa6652b3fefab8b2baf5b00d50d6a',0,'','',0);
INSERT INTO "writers" VALUES(4,'01a1f5aedb3c763a99d6b5986897d4a2','vm',32293,'2026-11-19 21:20:39.749268','2026-11-19 21:20:39.763847',2,1,'1a7e82cac82f043f6f112d6469ba97ff','6fd6fb6bfac808020adf90e52918edd1',0,'','',1);
INSERT INTO "writers" VALUES(5,'01a1f5aee1e276bdbba5165849cbb7e6','vm',32330,'2026-11-19 21:20:41.561106','2026-11-19 21:20:41.564336',2,1,'fe4780ac3ef9ac3cdbb9eefaf95d4470','12072e497db4b27f5143e37aebc106c2',0,'','',1);
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
