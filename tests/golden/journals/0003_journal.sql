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
INSERT INTO "agents" VALUES('01a1ef87633e7879a534d47d4c8c5338',6,'2026-11-18 16:39:49.822524','2026-11-18 16:39:49.822524',0,NULL,'01a1ef87630f76d49a37617ba60debb5','helper',NULL,'[]');
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0003_journal');
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
INSERT INTO "api_keys" VALUES('01a1ef8760207994b22db6cd23f372b7',1,'2026-11-18 16:39:49.016535','01a1ef875ffd76fa9574dbbfbf1bde79','PEGBOARD_ADMIN_KEY','the-admi','4a926f4e9b4574181ccf97e68f1d57c3ea45a7338d224f150304f020afd0e98b',NULL,NULL,NULL);
INSERT INTO "api_keys" VALUES('01a1ef87632c7cd3a1c840714d03a0b5',5,'2026-11-18 16:39:49.804794','01a1ef87630f76d49a37617ba60debb5','laptop','pb_skpIV','a59e08f0c54f7be79dba274c0e45318820d1b75d67329e5eab4a3a1b7c20b251',NULL,NULL,NULL);
INSERT INTO "api_keys" VALUES('01a1ef87634e7b36930bcefad145f235',7,'2026-11-18 16:39:49.838692','01a1ef87630f76d49a37617ba60debb5','robot','pb_hkDkL','73f3bd59d310d3c187b48c5aa09d6b9ddb90dd74b324b02d009811e2d4d1e1af','01a1ef87633e7879a534d47d4c8c5338',NULL,NULL);
CREATE TABLE board_state (
	id INTEGER NOT NULL, 
	revision BIGINT NOT NULL, writers INTEGER DEFAULT '0' NOT NULL, writers_signature VARCHAR(32) DEFAULT '' NOT NULL, 
	CONSTRAINT pk_board_state PRIMARY KEY (id), 
	CONSTRAINT ck_board_state_single CHECK (id = 1)
);
INSERT INTO "board_state" VALUES(1,10,4,'7a1824ea3ad623c0f18db1660e836494');
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
INSERT INTO "execution_counts" VALUES(498616,'','','refused','tool_not_found',67,1);
INSERT INTO "execution_counts" VALUES(498616,'','','refused','tool_not_found',69,1);
INSERT INTO "execution_counts" VALUES(498616,'','dies','in_doubt','in_doubt',96,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',80,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',81,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',83,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',84,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',107,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',109,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',151,1);
INSERT INTO "execution_counts" VALUES(498616,'','fails','failed','execution_failed',171,1);
INSERT INTO "execution_counts" VALUES(498616,'','kept','refused','missing',101,1);
INSERT INTO "execution_counts" VALUES(498616,'','kept','succeeded','',109,1);
INSERT INTO "execution_counts" VALUES(498616,'','limited','refused','rate_limited',83,1);
INSERT INTO "execution_counts" VALUES(498616,'','limited','succeeded','',103,1);
INSERT INTO "execution_counts" VALUES(498616,'','math_eval','failed','execution_failed',105,1);
INSERT INTO "execution_counts" VALUES(498616,'','once','refused','idempotency_conflict',150,1);
INSERT INTO "execution_counts" VALUES(498616,'','once','succeeded','',167,2);
INSERT INTO "execution_counts" VALUES(498616,'','replaced','succeeded','',165,1);
INSERT INTO "execution_counts" VALUES(498616,'','tried','failed','contract_violation',163,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-5ffd-76fa-9574-dbbfbf1bde79','','refused','tool_not_found',67,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-5ffd-76fa-9574-dbbfbf1bde79','dies','in_doubt','in_doubt',96,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-5ffd-76fa-9574-dbbfbf1bde79','echo','succeeded','',80,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-5ffd-76fa-9574-dbbfbf1bde79','echo','succeeded','',84,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-5ffd-76fa-9574-dbbfbf1bde79','echo','succeeded','',107,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-5ffd-76fa-9574-dbbfbf1bde79','echo','succeeded','',109,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-5ffd-76fa-9574-dbbfbf1bde79','echo','succeeded','',151,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-5ffd-76fa-9574-dbbfbf1bde79','fails','failed','execution_failed',171,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-5ffd-76fa-9574-dbbfbf1bde79','kept','refused','missing',101,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-5ffd-76fa-9574-dbbfbf1bde79','kept','succeeded','',109,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-5ffd-76fa-9574-dbbfbf1bde79','limited','refused','rate_limited',83,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-5ffd-76fa-9574-dbbfbf1bde79','limited','succeeded','',103,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-5ffd-76fa-9574-dbbfbf1bde79','math_eval','failed','execution_failed',105,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-5ffd-76fa-9574-dbbfbf1bde79','once','refused','idempotency_conflict',150,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-5ffd-76fa-9574-dbbfbf1bde79','once','succeeded','',167,2);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-5ffd-76fa-9574-dbbfbf1bde79','replaced','succeeded','',165,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-5ffd-76fa-9574-dbbfbf1bde79','tried','failed','contract_violation',163,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-630f-76d4-9a37-617ba60debb5','','refused','tool_not_found',69,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-630f-76d4-9a37-617ba60debb5','echo','succeeded','',81,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-630f-76d4-9a37-617ba60debb5','echo','succeeded','',83,1);
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
	thread_id TEXT, repeat_of TEXT, result TEXT, writer INTEGER, seq BIGINT, mac VARCHAR(32), 
	CONSTRAINT pk_executions PRIMARY KEY (id)
);
INSERT INTO "executions" VALUES('01a1ef8761b27f318dfc0090a9ba7ead','echo','succeeded','2026-11-18 16:39:49.426945','2026-11-18 16:39:49.435224',8.23,'01a1ef87-5ffd-76fa-9574-dbbfbf1bde79','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef87-61b2-7f31-8dfc-0090a9ba7ead',NULL,NULL,'43ef4f3c47a13b5087b4811b6d8d3857',NULL,NULL,NULL,NULL,NULL,NULL,1,4,'2e98c1ec8766c97aef4ed0982ada9e1c');
INSERT INTO "executions" VALUES('01a1ef8761c67f2db2e3a8335c78c6e3','kept','succeeded','2026-11-18 16:39:49.446941','2026-11-18 16:39:49.447640',0.657,'01a1ef87-5ffd-76fa-9574-dbbfbf1bde79','admin','library','plain',1,'01a1ef87-6151-7211-8568-69a8cc38b51a',1,'mock',NULL,NULL,'01a1ef87-61c6-7f2d-b2e3-a8335c78c6e3',NULL,NULL,'138167fb95f53fb1d9847428442bace8','{"text":"a ☃ and a 😀, \"quoted\", \\ and a\nline","number":-1.5e+300}',NULL,NULL,NULL,NULL,NULL,1,5,'5396a1c51a3bcab542e6b79b488dce4a');
INSERT INTO "executions" VALUES('01a1ef8761d0753b86b76f24482ff2d8','fails','failed','2026-11-18 16:39:49.456321','2026-11-18 16:39:49.484931',28.561,'01a1ef87-5ffd-76fa-9574-dbbfbf1bde79','admin','library','plain',1,'292d6f6c-a238-532d-ba7c-02469f556f4e',1,'internal',NULL,NULL,'01a1ef87-61d0-753b-86b7-6f24482ff2d8','execution_failed','cannot do a ☃ and a 😀, "quoted", \ and a
line','43ef4f3c47a13b5087b4811b6d8d3857',NULL,NULL,NULL,NULL,NULL,NULL,1,6,'1b2e9d223ac1d66cd4f2fb72a0faac0c');
INSERT INTO "executions" VALUES('01a1ef8761f473d8ba77062d0322237a','math_eval','failed','2026-11-18 16:39:49.492234','2026-11-18 16:39:49.492800',0.528,'01a1ef87-5ffd-76fa-9574-dbbfbf1bde79','admin','library','plain',1,'4f56c6ab-4df0-5007-b192-54f29c273c7e',1,'builtin',NULL,NULL,'01a1ef87-61f4-73d8-ba77-062d0322237a','execution_failed','Division by zero at position 2; change the divisor','19ddebf5436ba50fa0ce05062284ad72',NULL,NULL,NULL,NULL,NULL,NULL,1,7,'18e9141d17cc896d3df97b504dab01a1');
INSERT INTO "executions" VALUES('01a1ef8761f97b39812813f71b1799ac','kept','refused','2026-11-18 16:39:49.497696','2026-11-18 16:39:49.498155',0.426,'01a1ef87-5ffd-76fa-9574-dbbfbf1bde79','admin','library','plain',0,'01a1ef87-6151-7211-8568-69a8cc38b51a',1,'mock',NULL,NULL,'01a1ef87-61f9-7b39-8128-13f71b1799ac','missing','Invalid parameters: missing ''text''',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,8,'8f67170594ede3a964de18b809c71a5b');
INSERT INTO "executions" VALUES('01a1ef876202780e9cae67930e0ad7c1','no_such_tool','refused','2026-11-18 16:39:49.506498','2026-11-18 16:39:49.506581',0.055,'01a1ef87-5ffd-76fa-9574-dbbfbf1bde79','admin','library','plain',0,NULL,NULL,NULL,NULL,NULL,'01a1ef87-6202-780e-9cae-67930e0ad7c1','tool_not_found','Tool ''no_such_tool'' not found',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,9,'1bf51a283ca90ba888d38bf3274e9d46');
INSERT INTO "executions" VALUES('01a1ef87620874a3b35d9dbd60d4c172','limited','succeeded','2026-11-18 16:39:49.512285','2026-11-18 16:39:49.512781',0.467,'01a1ef87-5ffd-76fa-9574-dbbfbf1bde79','admin','library','plain',1,'01a1ef87-618c-76f7-b5bf-584506b59604',1,'mock',NULL,NULL,'01a1ef87-6208-74a3-b35d-9dbd60d4c172',NULL,NULL,'71135ac2df415e323c88896a64559041',NULL,NULL,NULL,NULL,NULL,NULL,1,10,'234ef96dad5d9d256fb34fa4716c12d1');
INSERT INTO "executions" VALUES('01a1ef87621474dcae2276be79666611','limited','refused','2026-11-18 16:39:49.524296','2026-11-18 16:39:49.524465',0.141,'01a1ef87-5ffd-76fa-9574-dbbfbf1bde79','admin','library','plain',0,'01a1ef87-618c-76f7-b5bf-584506b59604',1,'mock',NULL,NULL,'01a1ef87-6214-74dc-ae22-76be79666611','rate_limited','Rate limit of ''limited'' reached: 1 call per hour; try again in 3600 s','ef3648defe92aa2fa75e4716352a0cc9',NULL,NULL,NULL,NULL,NULL,NULL,1,11,'fde862642b9f51d76f179ad7d023e843');
INSERT INTO "executions" VALUES('01a1ef87637d74928e0993fd13536d39','echo','succeeded','2026-11-18 16:39:49.885279','2026-11-18 16:39:49.885454',0.142,'01a1ef87-630f-76d4-9a37-617ba60debb5','ada','rest','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin','01a1ef87-632c-7cd3-a1c8-40714d03a0b5',NULL,'request-1',NULL,NULL,'0a597acd50c1ba01f73d26f1db9e1b1b',NULL,NULL,NULL,NULL,NULL,NULL,1,12,'e54e913eca1b68838edaed32cb210eee');
INSERT INTO "executions" VALUES('01a1ef87638573d19be492f9fc44666e','echo','refused','2026-11-18 16:39:49.893231','2026-11-18 16:39:49.893319',0.062,'01a1ef87-630f-76d4-9a37-617ba60debb5','ada','rest','plain',0,NULL,NULL,NULL,'01a1ef87-634e-7b36-930b-cefad145f235','01a1ef87-633e-7879-a534-d47d4c8c5338','01a1ef87-6385-73d1-9be4-92f9fc44666e','tool_not_found','Tool ''echo'' not found',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,13,'58bf5cdf760468a3625a3ae29ec09169');
INSERT INTO "executions" VALUES('01a1ef8763a47e20bfd184dc7a7772e2','echo','succeeded','2026-11-18 16:39:49.924875','2026-11-18 16:39:49.925046',0.123,'01a1ef87-630f-76d4-9a37-617ba60debb5','ada','rest','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin','01a1ef87-632c-7cd3-a1c8-40714d03a0b5',NULL,'01a1ef87-639b-7b98-a541-a582e8eaa7cb',NULL,NULL,'66e98904430627929c8ef3e137d0ea09',NULL,NULL,NULL,NULL,NULL,NULL,1,14,'f0a28b39f33d986f466342b3e492f8da');
INSERT INTO "executions" VALUES('01a1ef8763ae7efdb17dcfdac9304682','once','succeeded','2026-11-18 16:39:49.934933','2026-11-18 16:39:49.956429',21.453,'01a1ef87-5ffd-76fa-9574-dbbfbf1bde79','admin','library','plain',1,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1ef87-63ae-7efd-b17d-cfdac9304682',NULL,NULL,'9c4b0b930defa9e8fe3fa46b22538a08',NULL,NULL,NULL,NULL,NULL,'"A"',1,15,'b583bcde9f2ba16c406c5bedebda5189');
INSERT INTO "executions" VALUES('01a1ef8763d073139f799234371751c6','once','succeeded','2026-11-18 16:39:49.968187','2026-11-18 16:39:49.972814',21.453,'01a1ef87-5ffd-76fa-9574-dbbfbf1bde79','admin','library','plain',0,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1ef87-63d0-7313-9f79-9234371751c6',NULL,NULL,'9c4b0b930defa9e8fe3fa46b22538a08',NULL,NULL,NULL,NULL,'01a1ef87-63ae-7efd-b17d-cfdac9304682','"A"',1,16,'0807570d08f8829ebf83c7fc105992ac');
INSERT INTO "executions" VALUES('01a1ef8763d9770696d7a254f0b7608f','once','refused','2026-11-18 16:39:49.977434','2026-11-18 16:39:49.985327',7.863,'01a1ef87-5ffd-76fa-9574-dbbfbf1bde79','admin','library','plain',0,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1ef87-63d9-7706-96d7-a254f0b7608f','idempotency_conflict','This idempotency key was used for ''once'' with other arguments; send the same arguments again, or a new key for a new call','a7a234707f36afa07a3a74a7f407d024',NULL,NULL,NULL,NULL,NULL,NULL,1,17,'182031cd152b1a2c47c3036f9e60743c');
INSERT INTO "executions" VALUES('01a1ef8763f07339a00d4cbbaf994a15','tried','failed','2026-11-18 16:39:50.000197','2026-11-18 16:39:50.017873',17.638,'01a1ef87-5ffd-76fa-9574-dbbfbf1bde79','admin','library','plain',2,'47fe7a73-0ae4-5d70-aa28-58a231407683',1,'internal',NULL,NULL,'01a1ef87-63f0-7339-a00d-4cbbaf994a15','contract_violation','The tool''s output breaks its output schema: The output must be an integer','e539ef0cd1e4624a53bcb6b3491add6d',NULL,NULL,NULL,NULL,NULL,NULL,1,18,'063ab4c9e8564d22f65e938ec5128368');
INSERT INTO "executions" VALUES('01a1ef8764057101b11e2cff38fbaa6e','replaced','succeeded','2026-11-18 16:39:50.021056','2026-11-18 16:39:50.040623',19.531,'01a1ef87-5ffd-76fa-9574-dbbfbf1bde79','admin','library','plain',2,'0b58c42c-a575-56ea-8e61-45f3fdeaeca4',1,'internal',NULL,NULL,'01a1ef87-6405-7101-b11e-2cff38fbaa6e',NULL,NULL,'e539ef0cd1e4624a53bcb6b3491add6d',NULL,NULL,NULL,NULL,NULL,NULL,1,19,'f41fdfd3a30c430e1eefb6c4127d58f1');
INSERT INTO "executions" VALUES('01a1ef877e3670468e29dbfe0f309244','dies','in_doubt','2026-11-18 16:39:56.726013','2026-11-18 16:39:56.872342',0.309,'01a1ef87-5ffd-76fa-9574-dbbfbf1bde79','admin','library','plain',1,'301f3051-930d-5d5d-ae86-e078a5b82b33',1,'internal',NULL,NULL,'01a1ef87-7e36-7046-8e29-dbfe0f309244','in_doubt','The server ended while this call was running; whether it took effect is not known','e539ef0cd1e4624a53bcb6b3491add6d',NULL,NULL,NULL,NULL,NULL,NULL,3,1,'07b2a0607d0b1e6808bfa5be8f17913f');
INSERT INTO "executions" VALUES('01a1ef8798a17b06a707bc623aaa03b8','echo','succeeded','2026-11-18 16:40:03.489660','2026-11-18 16:40:03.490293',0.593,'01a1ef87-5ffd-76fa-9574-dbbfbf1bde79','admin','cli','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef87-98a1-7b06-a707-bc623aaa03b8',NULL,NULL,'c172f40c20b1347688b5390530e67483',NULL,NULL,NULL,NULL,NULL,NULL,4,1,'49a07251ca38c68c6fe56d6a3b1ba476');
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
INSERT INTO "intents" VALUES('01a1ef8763ae7efdb17dcfdac9304682',1,'done','',0,'24f350e18158373f23ed773d7e21c4d1e2b90e1718b894b9abdc81b0bbbb94f9','9c4b0b930defa9e8fe3fa46b22538a08','pb1:b3457b1d:w8Sl8hpbEOo7cD4yLlbsNkRKmnc3uArLXnkSWs0SRxCFQFUSCOkMsHsMfYFOqkU7_p22SfSMnbuA9caDjNjGhs7DZP4LiH5hoYyksxrK5bOWau-KSn2QvCr77udzs8bFZeQLpglnIVgEZ7OgmTsgpMiW9MICkqx7Lsd2FYzdJOaW5l2BkY6yCA','2026-11-19 16:39:49.935184');
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
INSERT INTO "secrets" VALUES('01a1ef87600c777a95dce3c149ddd7f3',1,'2026-11-18 16:39:49.004461','2026-11-18 16:39:49.004461','01a1ef875ffd76fa9574dbbfbf1bde79','$root','pb1:b3457b1d:4k1MucUbphmwZ65zzClboym9wmbzrDcHr7PhkqL7y3aZLr3k5GwCYg-pZ07KzI4A3RA1Ak7M1qvQIWaD6Dj_Wu5ol9_4l4c9');
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
INSERT INTO "tool_versions" VALUES('01a1ef8760487f6880315d87dbe8d039','4f56c6ab4df05007b19254f29c273c7e',1,'{"name": "math_eval", "tool_type": "builtin", "config": {"operation": "math_eval"}, "input_schema": {"type": "object", "properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "The expression to evaluate.", "examples": ["2+2", "(1 + 0.05)^10 * 1000", "sqrt(3^2 + 4^2)", "sin(radians(30))"]}}, "required": ["expression"], "examples": [{"expression": "(1 + 0.05)^10 * 1000"}]}, "description": "Evaluates one arithmetic expression and returns the number. Use it for any calculation beyond trivial mental arithmetic instead of working it out yourself. Operators: + - * / // (floor division) % (modulo, not percent) ^ or ** (power) and ! (factorial). Constants: pi, e, tau. Functions: sqrt, cbrt, abs, round, floor, ceil, trunc, sign, exp, log, ln, log2, log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, min, max, sum, mean, pow, mod, gcd, lcm, factorial, hypot, degrees, radians. Angles are in radians; log is natural unless written log(x, base). There are no variables, comparisons, lists or units, and numbers are written without thousands separators.", "output_schema": {"type": "object", "properties": {"result": {"type": "number", "description": "The value; whole numbers beyond 64 bits are rounded to a floating-point number."}}, "required": ["result"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Calculator", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "sealed_auth": null}','2026-11-18 16:39:49.028555','01a1ef87-5ffd-76fa-9574-dbbfbf1bde79');
INSERT INTO "tool_versions" VALUES('01a1ef8760557dc0b57881624662a037','6b6d2eda2c7950659ce66502d73cc282',1,'{"name": "echo", "tool_type": "builtin", "config": {"operation": "echo"}, "input_schema": {"type": "object", "additionalProperties": true, "examples": [{"message": "hello"}]}, "description": "Returns exactly the arguments it was called with, under `echo`. Use it to check that tool calls work and how your arguments arrive; it does nothing else.", "output_schema": {"type": "object", "properties": {"echo": {"type": "object", "description": "The arguments of the call."}}, "required": ["echo"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Echo", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "sealed_auth": null}','2026-11-18 16:39:49.066323','01a1ef87-5ffd-76fa-9574-dbbfbf1bde79');
INSERT INTO "tool_versions" VALUES('01a1ef87605b7fd196afca93d9c9a2a6','85f568ed8cd35e11a508d3927f353e28',1,'{"name": "calculate_rsi", "tool_type": "builtin", "config": {"operation": "calculate_rsi"}, "input_schema": {"type": "object", "properties": {"prices": {"type": "array", "items": {"type": "number", "minimum": -1e+300, "maximum": 1e+300}, "minItems": 2, "maxItems": 100000, "description": "Closing prices, oldest first; at least period + 1.", "examples": [[44.34, 44.09, 44.15, 43.61, 44.33]]}, "period": {"type": "integer", "minimum": 1, "maximum": 99999, "default": 14, "description": "How many price changes are averaged; 14 is usual."}, "overbought": {"type": "number", "minimum": 0, "maximum": 100, "default": 70, "description": "The RSI from which on the answer''s `overbought` is true."}, "oversold": {"type": "number", "minimum": 0, "maximum": 100, "default": 30, "description": "The RSI down from which the answer''s `oversold` is true."}, "include_series": {"type": "boolean", "default": true, "description": "false leaves `series` out of the answer: shorter when only the last value matters."}}, "required": ["prices"], "examples": [{"prices": [44.34, 44.09, 44.15, 43.61, 44.33], "period": 3}]}, "description": "Calculates the relative strength index (RSI) of a series of prices, with Wilder''s smoothing, and says whether the last value is overbought or oversold. Give the closing prices oldest first, at least period + 1 of them; around 100 or more make the smoothing settle. It fetches no prices: you must have them already.", "output_schema": {"type": "object", "properties": {"rsi": {"type": "number", "minimum": 0, "maximum": 100, "description": "The RSI at the last price."}, "overbought": {"type": "boolean", "description": "Whether `rsi` is at or above the threshold."}, "oversold": {"type": "boolean", "description": "Whether `rsi` is at or below the threshold."}, "period": {"type": "integer", "description": "The period that was used."}, "series": {"type": "array", "items": {"type": ["number", "null"]}, "description": "The RSI at every price, as many as `prices`; null for the first `period` of them."}}, "required": ["rsi", "overbought", "oversold", "period"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Calculate RSI", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "sealed_auth": null}','2026-11-18 16:39:49.078316','01a1ef87-5ffd-76fa-9574-dbbfbf1bde79');
INSERT INTO "tool_versions" VALUES('01a1ef8760697006bfc27d4683d76837','41a86778e8bd54c69de12c75630f7f9e',1,'{"name": "current_time", "tool_type": "builtin", "config": {"operation": "current_time"}, "input_schema": {"type": "object", "properties": {"timezone": {"type": "string", "maxLength": 64, "default": "UTC", "description": "An IANA time zone name.", "examples": ["UTC", "Europe/Berlin", "America/New_York"]}}, "examples": [{}, {"timezone": "Europe/Berlin"}]}, "description": "Returns the current date, time and weekday, in UTC or in the time zone you name. Call it whenever an answer depends on what day or time it is now; you cannot know that otherwise.", "output_schema": {"type": "object", "properties": {"iso": {"type": "string", "format": "date-time", "description": "ISO 8601, with the zone''s offset."}, "unix": {"type": "integer", "description": "Seconds since 1970-01-01T00:00:00Z."}, "timezone": {"type": "string", "description": "The time zone of `iso`, `date`, `time` and `weekday`."}, "abbreviation": {"type": ["string", "null"], "description": "What the zone is called now, such as CEST."}, "date": {"type": "string", "format": "date"}, "time": {"type": "string", "description": "HH:MM:SS, on a 24-hour clock."}, "weekday": {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]}}, "required": ["iso", "unix", "timezone", "date", "time", "weekday"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Current Time", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "sealed_auth": null}','2026-11-18 16:39:49.088550','01a1ef87-5ffd-76fa-9574-dbbfbf1bde79');
INSERT INTO "tool_versions" VALUES('01a1ef8760757189bf1dd0440d497e8f','9e60bc7b2e6952c6bbf20b00e3006074',1,'{"name": "json_query", "tool_type": "builtin", "config": {"operation": "json_query"}, "input_schema": {"type": "object", "properties": {"data": {"description": "The JSON value to query: an object or array, not a string with JSON in it."}, "query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The JMESPath expression.", "examples": ["items[0].name", "items[?price > `10`].{name: name, price: price}", "sort_by(items, &price)[-1]", "length(items)"]}}, "required": ["data", "query"], "examples": [{"data": {"items": [{"name": "a", "price": 5}, {"name": "b", "price": 20}]}, "query": "items[?price > `10`]"}]}, "description": "Selects, filters, sorts and reshapes parts of a JSON value with a JMESPath query, and returns what it finds; null where nothing matches. Use it to get a few values out of a large JSON result without copying it by hand. Numbers in a query stand in backticks (`10`), strings in single quotes (''red''). It has no arithmetic.", "output_schema": {"type": "object", "properties": {"result": {"description": "What the query selects; null where nothing matches."}}, "required": ["result"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "JSON Query", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "sealed_auth": null}','2026-11-18 16:39:49.104323','01a1ef87-5ffd-76fa-9574-dbbfbf1bde79');
INSERT INTO "tool_versions" VALUES('01a1ef87616672bfa18b5a0f697ceca1','01a1ef8761517211856869a8cc38b51a',1,'{"name": "kept", "tool_type": "mock", "config": {"mock_response": {"sky": "clear"}}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden kept", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": true, "keep_result": false, "max_result_bytes": null, "drifted": false, "sealed_auth": null}','2026-11-18 16:39:49.329124','01a1ef87-5ffd-76fa-9574-dbbfbf1bde79');
INSERT INTO "tool_versions" VALUES('01a1ef876197795a811140382f479b2f','01a1ef87618c76f7b5bf584506b59604',1,'{"name": "limited", "tool_type": "mock", "config": {"mock_response": 1}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden limited", "output_schema": null, "rate_limit": {"max_calls": 1, "period": "hour", "burst": null, "scope": "caller"}, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "sealed_auth": null}','2026-11-18 16:39:49.388428','01a1ef87-5ffd-76fa-9574-dbbfbf1bde79');
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
	drifted BOOLEAN NOT NULL, keep_result BOOLEAN DEFAULT 0 NOT NULL, 
	CONSTRAINT pk_tools PRIMARY KEY (id), 
	CONSTRAINT ck_tools_tool_type CHECK (tool_type IN ('http', 'mcp', 'python', 'shell', 'builtin', 'mock', 'internal', 'table')), 
	CONSTRAINT ck_tools_is_active CHECK (is_active IS NOT NULL), 
	CONSTRAINT ck_tools_is_public CHECK (is_public IS NOT NULL), 
	CONSTRAINT fk_tools_owner_id FOREIGN KEY(owner_id) REFERENCES users (id)
);
INSERT INTO "tools" VALUES('4f56c6ab4df05007b19254f29c273c7e',1,'2026-11-18 16:39:49.028555','2026-11-18 16:39:49.028555',0,NULL,'01a1ef875ffd76fa9574dbbfbf1bde79','math_eval','Evaluates one arithmetic expression and returns the number. Use it for any calculation beyond trivial mental arithmetic instead of working it out yourself. Operators: + - * / // (floor division) % (modulo, not percent) ^ or ** (power) and ! (factorial). Constants: pi, e, tau. Functions: sqrt, cbrt, abs, round, floor, ceil, trunc, sign, exp, log, ln, log2, log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, min, max, sum, mean, pow, mod, gcd, lcm, factorial, hypot, degrees, radians. Angles are in radians; log is natural unless written log(x, base). There are no variables, comparisons, lists or units, and numbers are written without thousands separators.','builtin','{"operation": "math_eval"}','{"type": "object", "properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "The expression to evaluate.", "examples": ["2+2", "(1 + 0.05)^10 * 1000", "sqrt(3^2 + 4^2)", "sin(radians(30))"]}}, "required": ["expression"], "examples": [{"expression": "(1 + 0.05)^10 * 1000"}]}','{"type": "object", "properties": {"result": {"type": "number", "description": "The value; whole numbers beyond 64 bits are rounded to a floating-point number."}}, "required": ["result"]}',NULL,NULL,1,1,1,'Calculator','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0);
INSERT INTO "tools" VALUES('6b6d2eda2c7950659ce66502d73cc282',1,'2026-11-18 16:39:49.066323','2026-11-18 16:39:49.066323',0,NULL,'01a1ef875ffd76fa9574dbbfbf1bde79','echo','Returns exactly the arguments it was called with, under `echo`. Use it to check that tool calls work and how your arguments arrive; it does nothing else.','builtin','{"operation": "echo"}','{"type": "object", "additionalProperties": true, "examples": [{"message": "hello"}]}','{"type": "object", "properties": {"echo": {"type": "object", "description": "The arguments of the call."}}, "required": ["echo"]}',NULL,NULL,1,1,1,'Echo','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0);
INSERT INTO "tools" VALUES('85f568ed8cd35e11a508d3927f353e28',1,'2026-11-18 16:39:49.078316','2026-11-18 16:39:49.078316',0,NULL,'01a1ef875ffd76fa9574dbbfbf1bde79','calculate_rsi','Calculates the relative strength index (RSI) of a series of prices, with Wilder''s smoothing, and says whether the last value is overbought or oversold. Give the closing prices oldest first, at least period + 1 of them; around 100 or more make the smoothing settle. It fetches no prices: you must have them already.','builtin','{"operation": "calculate_rsi"}','{"type": "object", "properties": {"prices": {"type": "array", "items": {"type": "number", "minimum": -1e+300, "maximum": 1e+300}, "minItems": 2, "maxItems": 100000, "description": "Closing prices, oldest first; at least period + 1.", "examples": [[44.34, 44.09, 44.15, 43.61, 44.33]]}, "period": {"type": "integer", "minimum": 1, "maximum": 99999, "default": 14, "description": "How many price changes are averaged; 14 is usual."}, "overbought": {"type": "number", "minimum": 0, "maximum": 100, "default": 70, "description": "The RSI from which on the answer''s `overbought` is true."}, "oversold": {"type": "number", "minimum": 0, "maximum": 100, "default": 30, "description": "The RSI down from which the answer''s `oversold` is true."}, "include_series": {"type": "boolean", "default": true, "description": "false leaves `series` out of the answer: shorter when only the last value matters."}}, "required": ["prices"], "examples": [{"prices": [44.34, 44.09, 44.15, 43.61, 44.33], "period": 3}]}','{"type": "object", "properties": {"rsi": {"type": "number", "minimum": 0, "maximum": 100, "description": "The RSI at the last price."}, "overbought": {"type": "boolean", "description": "Whether `rsi` is at or above the threshold."}, "oversold": {"type": "boolean", "description": "Whether `rsi` is at or below the threshold."}, "period": {"type": "integer", "description": "The period that was used."}, "series": {"type": "array", "items": {"type": ["number", "null"]}, "description": "The RSI at every price, as many as `prices`; null for the first `period` of them."}}, "required": ["rsi", "overbought", "oversold", "period"]}',NULL,NULL,1,1,1,'Calculate RSI','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0);
INSERT INTO "tools" VALUES('41a86778e8bd54c69de12c75630f7f9e',1,'2026-11-18 16:39:49.088550','2026-11-18 16:39:49.088550',0,NULL,'01a1ef875ffd76fa9574dbbfbf1bde79','current_time','Returns the current date, time and weekday, in UTC or in the time zone you name. Call it whenever an answer depends on what day or time it is now; you cannot know that otherwise.','builtin','{"operation": "current_time"}','{"type": "object", "properties": {"timezone": {"type": "string", "maxLength": 64, "default": "UTC", "description": "An IANA time zone name.", "examples": ["UTC", "Europe/Berlin", "America/New_York"]}}, "examples": [{}, {"timezone": "Europe/Berlin"}]}','{"type": "object", "properties": {"iso": {"type": "string", "format": "date-time", "description": "ISO 8601, with the zone''s offset."}, "unix": {"type": "integer", "description": "Seconds since 1970-01-01T00:00:00Z."}, "timezone": {"type": "string", "description": "The time zone of `iso`, `date`, `time` and `weekday`."}, "abbreviation": {"type": ["string", "null"], "description": "What the zone is called now, such as CEST."}, "date": {"type": "string", "format": "date"}, "time": {"type": "string", "description": "HH:MM:SS, on a 24-hour clock."}, "weekday": {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]}}, "required": ["iso", "unix", "timezone", "date", "time", "weekday"]}',NULL,NULL,1,1,1,'Current Time','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0);
INSERT INTO "tools" VALUES('9e60bc7b2e6952c6bbf20b00e3006074',1,'2026-11-18 16:39:49.104323','2026-11-18 16:39:49.104323',0,NULL,'01a1ef875ffd76fa9574dbbfbf1bde79','json_query','Selects, filters, sorts and reshapes parts of a JSON value with a JMESPath query, and returns what it finds; null where nothing matches. Use it to get a few values out of a large JSON result without copying it by hand. Numbers in a query stand in backticks (`10`), strings in single quotes (''red''). It has no arithmetic.','builtin','{"operation": "json_query"}','{"type": "object", "properties": {"data": {"description": "The JSON value to query: an object or array, not a string with JSON in it."}, "query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The JMESPath expression.", "examples": ["items[0].name", "items[?price > `10`].{name: name, price: price}", "sort_by(items, &price)[-1]", "length(items)"]}}, "required": ["data", "query"], "examples": [{"data": {"items": [{"name": "a", "price": 5}, {"name": "b", "price": 20}]}, "query": "items[?price > `10`]"}]}','{"type": "object", "properties": {"result": {"description": "What the query selects; null where nothing matches."}}, "required": ["result"]}',NULL,NULL,1,1,1,'JSON Query','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0);
INSERT INTO "tools" VALUES('01a1ef8761517211856869a8cc38b51a',2,'2026-11-18 16:39:49.329124','2026-11-18 16:39:49.329124',0,NULL,'01a1ef875ffd76fa9574dbbfbf1bde79','kept','Golden kept','mock','{"mock_response": {"sky": "clear"}}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,1,NULL,0,0);
INSERT INTO "tools" VALUES('01a1ef87618c76f7b5bf584506b59604',3,'2026-11-18 16:39:49.388428','2026-11-18 16:39:49.388428',0,NULL,'01a1ef875ffd76fa9574dbbfbf1bde79','limited','Golden limited','mock','{"mock_response": 1}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,'{"max_calls": 1, "period": "hour", "burst": null, "scope": "caller"}',1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,0,NULL,0,0);
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
INSERT INTO "users" VALUES('01a1ef875ffd76fa9574dbbfbf1bde79',1,'2026-11-18 16:39:48.989428','2026-11-18 16:39:48.989428',0,NULL,'admin','admin');
INSERT INTO "users" VALUES('01a1ef87630f76d49a37617ba60debb5',4,'2026-11-18 16:39:49.775419','2026-11-18 16:39:49.775419',0,NULL,'ada','member');
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
INSERT INTO "writers" VALUES(1,'01a1ef8760c3752986ca4dd5acb421a4','vm',1215,'2026-11-18 16:39:49.235085','2026-11-18 16:39:56.942116',27,19,'f41fdfd3a30c430e1eefb6c4127d58f1','97b1bda5dad30ccd9f20c63b6599fd6f',3,'1801c72f1e3cfdad8ec8ac08dbf5391b','260e8f45906f2b589c35060a6a52ee2b',19);
INSERT INTO "writers" VALUES(2,'01a1ef877e2571cf9664ea730b33ead4','vm',1530,'2026-11-18 16:39:56.728180','2026-11-18 16:39:56.872012',1,0,'','9a79b59de76670db002c38c0b1500d7a',0,'','',0);
INSERT INTO "writers" VALUES(3,'01a1ef877ea274bdb9dac23c9f004f9b','vm',1215,'2026-11-18 16:39:56.872578','2026-11-18 16:39:56.924676',2,1,'07b2a0607d0b1e6808bfa5be8f17913f','6dbb303329bf5d76a961b869957eb781',0,'','',1);
INSERT INTO "writers" VALUES(4,'01a1ef8798827fc49c60efbade5ed47a','vm',1670,'2026-11-18 16:40:03.496398','2026-11-18 16:40:03.506216',2,1,'49a07251ca38c68c6fe56d6a3b1ba476','dd948afd7bb146321efb4138ee52925c',0,'','',1);
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
COMMIT;
