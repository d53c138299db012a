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
INSERT INTO "agents" VALUES('01a1ef8802487bc3828ac09654a086f5',6,'2026-11-18 16:40:30.536725','2026-11-18 16:40:30.536725',0,NULL,'01a1ef8801cc714cb7c4e13bbd8a311a','helper',NULL,'[]');
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0004_printed');
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
INSERT INTO "api_keys" VALUES('01a1ef87feec79ef9cc1833eac85b7d7',1,'2026-11-18 16:40:29.668673','01a1ef87fe6570fdbe49fda4b2de2915','PEGBOARD_ADMIN_KEY','the-admi','4a926f4e9b4574181ccf97e68f1d57c3ea45a7338d224f150304f020afd0e98b',NULL,NULL,NULL);
INSERT INTO "api_keys" VALUES('01a1ef88020873cfb455816325803c16',5,'2026-11-18 16:40:30.472230','01a1ef8801cc714cb7c4e13bbd8a311a','laptop','pb_pn9bM','c48357bce8a07cb8711712b4250d75ab7f6a3efa3e0c07f16888d2d5bf721f5b',NULL,NULL,NULL);
INSERT INTO "api_keys" VALUES('01a1ef8802927d19b9498ec8185fcdde',7,'2026-11-18 16:40:30.610810','01a1ef8801cc714cb7c4e13bbd8a311a','robot','pb_TOkSL','c8b11bcd26805389dfdc12d8fa407938dc99de2921715a837bc946fa296e4bee','01a1ef8802487bc3828ac09654a086f5',NULL,NULL);
CREATE TABLE board_state (
	id INTEGER NOT NULL, 
	revision BIGINT NOT NULL, writers INTEGER DEFAULT '0' NOT NULL, writers_signature VARCHAR(32) DEFAULT '' NOT NULL, 
	CONSTRAINT pk_board_state PRIMARY KEY (id), 
	CONSTRAINT ck_board_state_single CHECK (id = 1)
);
INSERT INTO "board_state" VALUES(1,12,4,'035e397b6df3cd4923996ccb4945d2d9');
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
INSERT INTO "execution_counts" VALUES(498616,'','','refused','tool_not_found',70,1);
INSERT INTO "execution_counts" VALUES(498616,'','','refused','tool_not_found',71,1);
INSERT INTO "execution_counts" VALUES(498616,'','dies','in_doubt','in_doubt',94,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',82,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',85,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',86,2);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',88,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',107,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',118,1);
INSERT INTO "execution_counts" VALUES(498616,'','fails','failed','execution_failed',150,1);
INSERT INTO "execution_counts" VALUES(498616,'','kept','refused','missing',103,1);
INSERT INTO "execution_counts" VALUES(498616,'','kept','succeeded','',107,1);
INSERT INTO "execution_counts" VALUES(498616,'','limited','refused','rate_limited',84,1);
INSERT INTO "execution_counts" VALUES(498616,'','limited','succeeded','',105,1);
INSERT INTO "execution_counts" VALUES(498616,'','math_eval','failed','execution_failed',107,1);
INSERT INTO "execution_counts" VALUES(498616,'','note','succeeded','',215,1);
INSERT INTO "execution_counts" VALUES(498616,'','once','refused','idempotency_conflict',158,1);
INSERT INTO "execution_counts" VALUES(498616,'','once','succeeded','',168,2);
INSERT INTO "execution_counts" VALUES(498616,'','print','succeeded','',231,1);
INSERT INTO "execution_counts" VALUES(498616,'','replaced','succeeded','',143,1);
INSERT INTO "execution_counts" VALUES(498616,'','tried','failed','contract_violation',166,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-fe65-70fd-be49-fda4b2de2915','','refused','tool_not_found',70,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-fe65-70fd-be49-fda4b2de2915','dies','in_doubt','in_doubt',94,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-fe65-70fd-be49-fda4b2de2915','echo','succeeded','',82,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-fe65-70fd-be49-fda4b2de2915','echo','succeeded','',86,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-fe65-70fd-be49-fda4b2de2915','echo','succeeded','',88,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-fe65-70fd-be49-fda4b2de2915','echo','succeeded','',107,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-fe65-70fd-be49-fda4b2de2915','echo','succeeded','',118,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-fe65-70fd-be49-fda4b2de2915','fails','failed','execution_failed',150,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-fe65-70fd-be49-fda4b2de2915','kept','refused','missing',103,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-fe65-70fd-be49-fda4b2de2915','kept','succeeded','',107,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-fe65-70fd-be49-fda4b2de2915','limited','refused','rate_limited',84,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-fe65-70fd-be49-fda4b2de2915','limited','succeeded','',105,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-fe65-70fd-be49-fda4b2de2915','math_eval','failed','execution_failed',107,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-fe65-70fd-be49-fda4b2de2915','note','succeeded','',215,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-fe65-70fd-be49-fda4b2de2915','once','refused','idempotency_conflict',158,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-fe65-70fd-be49-fda4b2de2915','once','succeeded','',168,2);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-fe65-70fd-be49-fda4b2de2915','print','succeeded','',231,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-fe65-70fd-be49-fda4b2de2915','replaced','succeeded','',143,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef87-fe65-70fd-be49-fda4b2de2915','tried','failed','contract_violation',166,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef88-01cc-714c-b7c4-e13bbd8a311a','','refused','tool_not_found',71,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef88-01cc-714c-b7c4-e13bbd8a311a','echo','succeeded','',85,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef88-01cc-714c-b7c4-e13bbd8a311a','echo','succeeded','',86,1);
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
INSERT INTO "executions" VALUES('01a1ef88006a7f7fbd8c482c074673c6','echo','succeeded','2026-11-18 16:40:30.058965','2026-11-18 16:40:30.059187',0.187,'01a1ef87-fe65-70fd-be49-fda4b2de2915','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef88-006a-7f7f-bd8c-482c074673c6',NULL,NULL,'07167e2ead7da32321e1c1dca28976a4',NULL,NULL,NULL,NULL,NULL,NULL,1,4,'d6c0b1d625ef43d1ff1ac34d451fd938',NULL);
INSERT INTO "executions" VALUES('01a1ef880074793a9c0d7a11e2c81153','kept','succeeded','2026-11-18 16:40:30.068570','2026-11-18 16:40:30.069219',0.611,'01a1ef87-fe65-70fd-be49-fda4b2de2915','admin','library','plain',1,'01a1ef88-004c-77c0-8f00-f9ad2e841f0e',1,'mock',NULL,NULL,'01a1ef88-0074-793a-9c0d-7a11e2c81153',NULL,NULL,'395a50dc58afbea0daffc7a1cb8f0ceb','{"text":"a ☃ and a 😀, \"quoted\", \\ and a\nline","number":-1.5e+300}',NULL,NULL,NULL,NULL,NULL,1,5,'a2d57baf5527b75121dd84ed6249cfcc',NULL);
INSERT INTO "executions" VALUES('01a1ef88007c7e29a121cfb1c7019c74','fails','failed','2026-11-18 16:40:30.076880','2026-11-18 16:40:30.085013',8.056,'01a1ef87-fe65-70fd-be49-fda4b2de2915','admin','library','plain',1,'292d6f6c-a238-532d-ba7c-02469f556f4e',1,'internal',NULL,NULL,'01a1ef88-007c-7e29-a121-cfb1c7019c74','execution_failed','cannot do a ☃ and a 😀, "quoted", \ and a
line','07167e2ead7da32321e1c1dca28976a4',NULL,NULL,NULL,NULL,NULL,NULL,1,6,'897f0bc153951892b67ac8dc64f2d8ef',NULL);
INSERT INTO "executions" VALUES('01a1ef88008e7bd88cff5d0658590675','math_eval','failed','2026-11-18 16:40:30.094734','2026-11-18 16:40:30.095362',0.586,'01a1ef87-fe65-70fd-be49-fda4b2de2915','admin','library','plain',1,'4f56c6ab-4df0-5007-b192-54f29c273c7e',1,'builtin',NULL,NULL,'01a1ef88-008e-7bd8-8cff-5d0658590675','execution_failed','Division by zero at position 2; change the divisor','b951afbbfef94243bc6e96f0237bffae',NULL,NULL,NULL,NULL,NULL,NULL,1,7,'d7ddafd03577ee7302382b2310568f00',NULL);
INSERT INTO "executions" VALUES('01a1ef88009c74a7b66ecc6710cf4586','kept','refused','2026-11-18 16:40:30.108283','2026-11-18 16:40:30.108788',0.461,'01a1ef87-fe65-70fd-be49-fda4b2de2915','admin','library','plain',0,'01a1ef88-004c-77c0-8f00-f9ad2e841f0e',1,'mock',NULL,NULL,'01a1ef88-009c-74a7-b66e-cc6710cf4586','missing','Invalid parameters: missing ''text''',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,8,'367fe00bd8773de88ecd64ea1e1222d6',NULL);
INSERT INTO "executions" VALUES('01a1ef8800a17082b130eb98ad30f94e','no_such_tool','refused','2026-11-18 16:40:30.113026','2026-11-18 16:40:30.113121',0.064,'01a1ef87-fe65-70fd-be49-fda4b2de2915','admin','library','plain',0,NULL,NULL,NULL,NULL,NULL,'01a1ef88-00a1-7082-b130-eb98ad30f94e','tool_not_found','Tool ''no_such_tool'' not found',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,9,'c02c10d0a97010e7f19bbfa4f8dc1355',NULL);
INSERT INTO "executions" VALUES('01a1ef8800a57d2f9695a3819318efc6','limited','succeeded','2026-11-18 16:40:30.117819','2026-11-18 16:40:30.118366',0.522,'01a1ef87-fe65-70fd-be49-fda4b2de2915','admin','library','plain',1,'01a1ef88-0058-76c7-a2e6-f62bead62640',1,'mock',NULL,NULL,'01a1ef88-00a5-7d2f-9695-a3819318efc6',NULL,NULL,'e42d12fe6556b642eea6de29df94b5b2',NULL,NULL,NULL,NULL,NULL,NULL,1,10,'affb3377b3b2e0e082c340d40af25fb1',NULL);
INSERT INTO "executions" VALUES('01a1ef8800af77689a785ea4c4fb51ed','limited','refused','2026-11-18 16:40:30.127456','2026-11-18 16:40:30.127638',0.15,'01a1ef87-fe65-70fd-be49-fda4b2de2915','admin','library','plain',0,'01a1ef88-0058-76c7-a2e6-f62bead62640',1,'mock',NULL,NULL,'01a1ef88-00af-7768-9a78-5ea4c4fb51ed','rate_limited','Rate limit of ''limited'' reached: 1 call per hour; try again in 3600 s','2387496ba00285cfb19b5e0210dc0980',NULL,NULL,NULL,NULL,NULL,NULL,1,11,'a98dfaefc5e92e13fc0a40dae39c5180',NULL);
INSERT INTO "executions" VALUES('01a1ef8802c5706aa874f9bdd51c0f9d','echo','succeeded','2026-11-18 16:40:30.661019','2026-11-18 16:40:30.661219',0.168,'01a1ef88-01cc-714c-b7c4-e13bbd8a311a','ada','rest','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin','01a1ef88-0208-73cf-b455-816325803c16',NULL,'request-1',NULL,NULL,'479829d41c5f3b4e0ba56608fa295dae',NULL,NULL,NULL,NULL,NULL,NULL,1,12,'33506f4dfa5188d0942d233788ae6fd9',NULL);
INSERT INTO "executions" VALUES('01a1ef8802d171e79b87b780206f1ad6','echo','refused','2026-11-18 16:40:30.673111','2026-11-18 16:40:30.673209',0.067,'01a1ef88-01cc-714c-b7c4-e13bbd8a311a','ada','rest','plain',0,NULL,NULL,NULL,'01a1ef88-0292-7d19-b949-8ec8185fcdde','01a1ef88-0248-7bc3-828a-c09654a086f5','01a1ef88-02d1-71e7-9b87-b780206f1ad6','tool_not_found','Tool ''echo'' not found',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,13,'0461bf4c368476e3a33145ea9fe9b3ad',NULL);
INSERT INTO "executions" VALUES('01a1ef8802ed7884bd99fb14392c0bdd','echo','succeeded','2026-11-18 16:40:30.701524','2026-11-18 16:40:30.701710',0.159,'01a1ef88-01cc-714c-b7c4-e13bbd8a311a','ada','rest','openai_chat',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin','01a1ef88-0208-73cf-b455-816325803c16',NULL,'01a1ef88-02de-7b56-9666-132abf1ca7dd',NULL,NULL,'2ec7b1f07483cbd28c6c208297b6a4e6',NULL,NULL,NULL,NULL,NULL,NULL,1,14,'a1a48d4e01c2371e66cc68ed98237d94',NULL);
INSERT INTO "executions" VALUES('01a1ef8802fe772d8b6b48351239e627','once','succeeded','2026-11-18 16:40:30.718444','2026-11-18 16:40:30.741142',22.65,'01a1ef87-fe65-70fd-be49-fda4b2de2915','admin','library','plain',1,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1ef88-02fe-772d-8b6b-48351239e627',NULL,NULL,'3273854060d2fc2069d9f0e47395f666',NULL,NULL,NULL,NULL,NULL,'"A"',1,15,'b34fd81c4fedcddabb46e60c7f0ea866',NULL);
INSERT INTO "executions" VALUES('01a1ef88031d7fd59db958885497dc03','once','succeeded','2026-11-18 16:40:30.749983','2026-11-18 16:40:30.766000',22.65,'01a1ef87-fe65-70fd-be49-fda4b2de2915','admin','library','plain',0,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1ef88-031d-7fd5-9db9-58885497dc03',NULL,NULL,'3273854060d2fc2069d9f0e47395f666',NULL,NULL,NULL,NULL,'01a1ef88-02fe-772d-8b6b-48351239e627','"A"',1,16,'4e959a5c13511dfa489802f50cd1ef19',NULL);
INSERT INTO "executions" VALUES('01a1ef88032f77669ef79210bdae5589','once','refused','2026-11-18 16:40:30.767457','2026-11-18 16:40:30.780375',12.872,'01a1ef87-fe65-70fd-be49-fda4b2de2915','admin','library','plain',0,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1ef88-032f-7766-9ef7-9210bdae5589','idempotency_conflict','This idempotency key was used for ''once'' with other arguments; send the same arguments again, or a new key for a new call','fe5904dfa67f35e51779470b1596a8b0',NULL,NULL,NULL,NULL,NULL,NULL,1,17,'17f364b6857d7e7224d3066029537bc0',NULL);
INSERT INTO "executions" VALUES('01a1ef8803587a7d8465102ca5e1a92b','tried','failed','2026-11-18 16:40:30.808649','2026-11-18 16:40:30.829884',21.19,'01a1ef87-fe65-70fd-be49-fda4b2de2915','admin','library','plain',2,'47fe7a73-0ae4-5d70-aa28-58a231407683',1,'internal',NULL,NULL,'01a1ef88-0358-7a7d-8465-102ca5e1a92b','contract_violation','The tool''s output breaks its output schema: The output must be an integer','5690d1c20cbcba60ec9a21df95213a1f',NULL,NULL,NULL,NULL,NULL,NULL,1,18,'86111625b2741a6d53988af92d510061',NULL);
INSERT INTO "executions" VALUES('01a1ef88037c767d9770be2c6034e9dc','replaced','succeeded','2026-11-18 16:40:30.844396','2026-11-18 16:40:30.849504',5.077,'01a1ef87-fe65-70fd-be49-fda4b2de2915','admin','library','plain',2,'0b58c42c-a575-56ea-8e61-45f3fdeaeca4',1,'internal',NULL,NULL,'01a1ef88-037c-767d-9770-be2c6034e9dc',NULL,NULL,'5690d1c20cbcba60ec9a21df95213a1f',NULL,NULL,NULL,NULL,NULL,NULL,1,19,'6054d48f0d432bd29c22cada33c8a6ac',NULL);
INSERT INTO "executions" VALUES('01a1ef8803ee7880adac8a75c10b0f8e','note','succeeded','2026-11-18 16:40:30.958527','2026-11-18 16:40:31.339011',380.442,'01a1ef87-fe65-70fd-be49-fda4b2de2915','admin','library','plain',1,'01a1ef88-03b1-72ab-bfaf-4468cbd709ed',1,'table',NULL,NULL,'01a1ef88-03ee-7880-adac-8a75c10b0f8e',NULL,NULL,'c61e18ef756a1cf961a5900d0f79bb8a',NULL,'1',NULL,NULL,NULL,NULL,1,20,'a63361c43128cc58602fc959ebe34858',NULL);
INSERT INTO "executions" VALUES('01a1ef88056e7ccb980342961018a263','print','succeeded','2026-11-18 16:40:31.342796','2026-11-18 16:40:32.332435',989.594,'01a1ef87-fe65-70fd-be49-fda4b2de2915','admin','library','plain',1,'01a1ef88-03e5-7696-a15e-814160707715',1,'python',NULL,NULL,'01a1ef88-056e-7ccb-9803-42961018a263',NULL,NULL,'7c766fc637a6f5b432e79625eafea893',NULL,NULL,NULL,NULL,NULL,NULL,1,21,'792d804e46ccb552b4752d2a1c35fcd6','printed text
');
INSERT INTO "executions" VALUES('01a1ef882ac27303b63409ee91dcd550','dies','in_doubt','2026-11-18 16:40:40.898185','2026-11-18 16:40:41.139156',0.275,'01a1ef87-fe65-70fd-be49-fda4b2de2915','admin','library','plain',1,'301f3051-930d-5d5d-ae86-e078a5b82b33',1,'internal',NULL,NULL,'01a1ef88-2ac2-7303-b634-09ee91dcd550','in_doubt','The server ended while this call was running; whether it took effect is not known','5690d1c20cbcba60ec9a21df95213a1f',NULL,NULL,NULL,NULL,NULL,NULL,3,1,'b88b611e375fd2ec1b1cfcfd4bfaf9e9',NULL);
INSERT INTO "executions" VALUES('01a1ef8865367ab28bea173a02757c01','echo','succeeded','2026-11-18 16:40:55.862661','2026-11-18 16:40:55.863328',0.593,'01a1ef87-fe65-70fd-be49-fda4b2de2915','admin','cli','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef88-6536-7ab2-8bea-173a02757c01',NULL,NULL,'6eade0c5c0eff5ec6905e166f0cf5c35',NULL,NULL,NULL,NULL,NULL,NULL,4,1,'95e9479e6bb3107205ddc18d495d2117',NULL);
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
INSERT INTO "intents" VALUES('01a1ef8802fe772d8b6b48351239e627',1,'done','',0,'29a07f4abeeb99e7a3b11cd80e528448bcf0a92dd73b10290c5113551c527694','3273854060d2fc2069d9f0e47395f666','pb1:b3457b1d:wjvT9tB2er2G8jz3VELHOHkR6Kg93j-yRzVXAinhz22jrBKrcHJOmCIxPAKg-zAjVi_DSToD7pCMak5wC3BUY0t0w-a_J5TJcjYoC-VBj2nIIu6so5M-2W9sLufwcA-SvKNhBOuU9GlN3OTaeKGgs_OW6eSi-7Cs-Mj0YQ-i6Mzefhst9Pf1','2026-11-19 16:40:30.718703');
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
INSERT INTO "secrets" VALUES('01a1ef87fed07d12a719cc2a268e7fa2',1,'2026-11-18 16:40:29.648809','2026-11-18 16:40:29.648809','01a1ef87fe6570fdbe49fda4b2de2915','$root','pb1:b3457b1d:Yx5vojyJd2ebNDqIAEfLohSoiXTwUmw5Bv17uu-TE0NCaUyB4SzBxmbM_3qdjJVamJSVrJFAh6boFaiEk4fiPVxPq1Q5DQ1t');
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
INSERT INTO "tool_versions" VALUES('01a1ef87ff0d75d09d07b418ec2a93b4','4f56c6ab4df05007b19254f29c273c7e',1,'{"name": "math_eval", "tool_type": "builtin", "config": {"operation": "math_eval"}, "input_schema": {"type": "object", "properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "The expression to evaluate.", "examples": ["2+2", "(1 + 0.05)^10 * 1000", "sqrt(3^2 + 4^2)", "sin(radians(30))"]}}, "required": ["expression"], "examples": [{"expression": "(1 + 0.05)^10 * 1000"}]}, "description": "Evaluates one arithmetic expression and returns the number. Use it for any calculation beyond trivial mental arithmetic instead of working it out yourself. Operators: + - * / // (floor division) % (modulo, not percent) ^ or ** (power) and ! (factorial). Constants: pi, e, tau. Functions: sqrt, cbrt, abs, round, floor, ceil, trunc, sign, exp, log, ln, log2, log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, min, max, sum, mean, pow, mod, gcd, lcm, factorial, hypot, degrees, radians. Angles are in radians; log is natural unless written log(x, base). There are no variables, comparisons, lists or units, and numbers are written without thousands separators.", "output_schema": {"type": "object", "properties": {"result": {"type": "number", "description": "The value; whole numbers beyond 64 bits are rounded to a floating-point number."}}, "required": ["result"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Calculator", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "sealed_auth": null}','2026-11-18 16:40:29.680409','01a1ef87-fe65-70fd-be49-fda4b2de2915');
INSERT INTO "tool_versions" VALUES('01a1ef87ff1d7f26bc479f907abd1c38','6b6d2eda2c7950659ce66502d73cc282',1,'{"name": "echo", "tool_type": "builtin", "config": {"operation": "echo"}, "input_schema": {"type": "object", "additionalProperties": true, "examples": [{"message": "hello"}]}, "description": "Returns exactly the arguments it was called with, under `echo`. Use it to check that tool calls work and how your arguments arrive; it does nothing else.", "output_schema": {"type": "object", "properties": {"echo": {"type": "object", "description": "The arguments of the call."}}, "required": ["echo"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Echo", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "sealed_auth": null}','2026-11-18 16:40:29.716517','01a1ef87-fe65-70fd-be49-fda4b2de2915');
INSERT INTO "tool_versions" VALUES('01a1ef87ff307881ab24438c445c3102','85f568ed8cd35e11a508d3927f353e28',1,'{"name": "calculate_rsi", "tool_type": "builtin", "config": {"operation": "calculate_rsi"}, "input_schema": {"type": "object", "properties": {"prices": {"type": "array", "items": {"type": "number", "minimum": -1e+300, "maximum": 1e+300}, "minItems": 2, "maxItems": 100000, "description": "Closing prices, oldest first; at least period + 1.", "examples": [[44.34, 44.09, 44.15, 43.61, 44.33]]}, "period": {"type": "integer", "minimum": 1, "maximum": 99999, "default": 14, "description": "How many price changes are averaged; 14 is usual."}, "overbought": {"type": "number", "minimum": 0, "maximum": 100, "default": 70, "description": "The RSI from which on the answer''s `overbought` is true."}, "oversold": {"type": "number", "minimum": 0, "maximum": 100, "default": 30, "description": "The RSI down from which the answer''s `oversold` is true."}, "include_series": {"type": "boolean", "default": true, "description": "false leaves `series` out of the answer: shorter when only the last value matters."}}, "required": ["prices"], "examples": [{"prices": [44.34, 44.09, 44.15, 43.61, 44.33], "period": 3}]}, "description": "Calculates the relative strength index (RSI) of a series of prices, with Wilder''s smoothing, and says whether the last value is overbought or oversold. Give the closing prices oldest first, at least period + 1 of them; around 100 or more make the smoothing settle. It fetches no prices: you must have them already.", "output_schema": {"type": "object", "properties": {"rsi": {"type": "number", "minimum": 0, "maximum": 100, "description": "The RSI at the last price."}, "overbought": {"type": "boolean", "description": "Whether `rsi` is at or above the threshold."}, "oversold": {"type": "boolean", "description": "Whether `rsi` is at or below the threshold."}, "period": {"type": "integer", "description": "The period that was used."}, "series": {"type": "array", "items": {"type": ["number", "null"]}, "description": "The RSI at every price, as many as `prices`; null for the first `period` of them."}}, "required": ["rsi", "overbought", "oversold", "period"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Calculate RSI", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "sealed_auth": null}','2026-11-18 16:40:29.728149','01a1ef87-fe65-70fd-be49-fda4b2de2915');
INSERT INTO "tool_versions" VALUES('01a1ef87ff3875f5acd7392f972af085','41a86778e8bd54c69de12c75630f7f9e',1,'{"name": "current_time", "tool_type": "builtin", "config": {"operation": "current_time"}, "input_schema": {"type": "object", "properties": {"timezone": {"type": "string", "maxLength": 64, "default": "UTC", "description": "An IANA time zone name.", "examples": ["UTC", "Europe/Berlin", "America/New_York"]}}, "examples": [{}, {"timezone": "Europe/Berlin"}]}, "description": "Returns the current date, time and weekday, in UTC or in the time zone you name. Call it whenever an answer depends on what day or time it is now; you cannot know that otherwise.", "output_schema": {"type": "object", "properties": {"iso": {"type": "string", "format": "date-time", "description": "ISO 8601, with the zone''s offset."}, "unix": {"type": "integer", "description": "Seconds since 1970-01-01T00:00:00Z."}, "timezone": {"type": "string", "description": "The time zone of `iso`, `date`, `time` and `weekday`."}, "abbreviation": {"type": ["string", "null"], "description": "What the zone is called now, such as CEST."}, "date": {"type": "string", "format": "date"}, "time": {"type": "string", "description": "HH:MM:SS, on a 24-hour clock."}, "weekday": {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]}}, "required": ["iso", "unix", "timezone", "date", "time", "weekday"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Current Time", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "sealed_auth": null}','2026-11-18 16:40:29.745136','01a1ef87-fe65-70fd-be49-fda4b2de2915');
INSERT INTO "tool_versions" VALUES('01a1ef87ff6671f299126451527c4f24','9e60bc7b2e6952c6bbf20b00e3006074',1,'{"name": "json_query", "tool_type": "builtin", "config": {"operation": "json_query"}, "input_schema": {"type": "object", "properties": {"data": {"description": "The JSON value to query: an object or array, not a string with JSON in it."}, "query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The JMESPath expression.", "examples": ["items[0].name", "items[?price > `10`].{name: name, price: price}", "sort_by(items, &price)[-1]", "length(items)"]}}, "required": ["data", "query"], "examples": [{"data": {"items": [{"name": "a", "price": 5}, {"name": "b", "price": 20}]}, "query": "items[?price > `10`]"}]}, "description": "Selects, filters, sorts and reshapes parts of a JSON value with a JMESPath query, and returns what it finds; null where nothing matches. Use it to get a few values out of a large JSON result without copying it by hand. Numbers in a query stand in backticks (`10`), strings in single quotes (''red''). It has no arithmetic.", "output_schema": {"type": "object", "properties": {"result": {"description": "What the query selects; null where nothing matches."}}, "required": ["result"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "JSON Query", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "sealed_auth": null}','2026-11-18 16:40:29.754884','01a1ef87-fe65-70fd-be49-fda4b2de2915');
INSERT INTO "tool_versions" VALUES('01a1ef88005175c99182d27a81cdf297','01a1ef88004c77c08f00f9ad2e841f0e',1,'{"name": "kept", "tool_type": "mock", "config": {"mock_response": {"sky": "clear"}}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden kept", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": true, "keep_result": false, "max_result_bytes": null, "drifted": false, "sealed_auth": null}','2026-11-18 16:40:30.028480','01a1ef87-fe65-70fd-be49-fda4b2de2915');
INSERT INTO "tool_versions" VALUES('01a1ef88005b79d19bb05ae825d46722','01a1ef88005876c7a2e6f62bead62640',1,'{"name": "limited", "tool_type": "mock", "config": {"mock_response": 1}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden limited", "output_schema": null, "rate_limit": {"max_calls": 1, "period": "hour", "burst": null, "scope": "caller"}, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "sealed_auth": null}','2026-11-18 16:40:30.040417','01a1ef87-fe65-70fd-be49-fda4b2de2915');
INSERT INTO "tool_versions" VALUES('01a1ef8803c0736f98272e6d062b4ef0','01a1ef8803b172abbfaf4468cbd709ed',1,'{"name": "note", "tool_type": "table", "config": {"tableName": "notes", "fields": [{"name": "text", "dataType": "text"}]}, "input_schema": {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"text": {"type": ["string", "null"]}}, "required": [], "additionalProperties": false}, "description": "Golden note", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "reject", "result_style": "detailed", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "sealed_auth": null}','2026-11-18 16:40:30.897157','01a1ef87-fe65-70fd-be49-fda4b2de2915');
INSERT INTO "tool_versions" VALUES('01a1ef8803e9771e8e887aa7c78c0086','01a1ef8803e57696a15e814160707715',1,'{"name": "print", "tool_type": "python", "config": {"code": "def show(text: str) -> str:\n    print(''printed'', text)\n    return text\n"}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden print", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "sealed_auth": null}','2026-11-18 16:40:30.949404','01a1ef87-fe65-70fd-be49-fda4b2de2915');
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
INSERT INTO "tools" VALUES('4f56c6ab4df05007b19254f29c273c7e',1,'2026-11-18 16:40:29.680409','2026-11-18 16:40:29.680409',0,NULL,'01a1ef87fe6570fdbe49fda4b2de2915','math_eval','Evaluates one arithmetic expression and returns the number. Use it for any calculation beyond trivial mental arithmetic instead of working it out yourself. Operators: + - * / // (floor division) % (modulo, not percent) ^ or ** (power) and ! (factorial). Constants: pi, e, tau. Functions: sqrt, cbrt, abs, round, floor, ceil, trunc, sign, exp, log, ln, log2, log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, min, max, sum, mean, pow, mod, gcd, lcm, factorial, hypot, degrees, radians. Angles are in radians; log is natural unless written log(x, base). There are no variables, comparisons, lists or units, and numbers are written without thousands separators.','builtin','{"operation": "math_eval"}','{"type": "object", "properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "The expression to evaluate.", "examples": ["2+2", "(1 + 0.05)^10 * 1000", "sqrt(3^2 + 4^2)", "sin(radians(30))"]}}, "required": ["expression"], "examples": [{"expression": "(1 + 0.05)^10 * 1000"}]}','{"type": "object", "properties": {"result": {"type": "number", "description": "The value; whole numbers beyond 64 bits are rounded to a floating-point number."}}, "required": ["result"]}',NULL,NULL,1,1,1,'Calculator','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0);
INSERT INTO "tools" VALUES('6b6d2eda2c7950659ce66502d73cc282',1,'2026-11-18 16:40:29.716517','2026-11-18 16:40:29.716517',0,NULL,'01a1ef87fe6570fdbe49fda4b2de2915','echo','Returns exactly the arguments it was called with, under `echo`. Use it to check that tool calls work and how your arguments arrive; it does nothing else.','builtin','{"operation": "echo"}','{"type": "object", "additionalProperties": true, "examples": [{"message": "hello"}]}','{"type": "object", "properties": {"echo": {"type": "object", "description": "The arguments of the call."}}, "required": ["echo"]}',NULL,NULL,1,1,1,'Echo','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0);
INSERT INTO "tools" VALUES('85f568ed8cd35e11a508d3927f353e28',1,'2026-11-18 16:40:29.728149','2026-11-18 16:40:29.728149',0,NULL,'01a1ef87fe6570fdbe49fda4b2de2915','calculate_rsi','Calculates the relative strength index (RSI) of a series of prices, with Wilder''s smoothing, and says whether the last value is overbought or oversold. Give the closing prices oldest first, at least period + 1 of them; around 100 or more make the smoothing settle. It fetches no prices: you must have them already.','builtin','{"operation": "calculate_rsi"}','{"type": "object", "properties": {"prices": {"type": "array", "items": {"type": "number", "minimum": -1e+300, "maximum": 1e+300}, "minItems": 2, "maxItems": 100000, "description": "Closing prices, oldest first; at least period + 1.", "examples": [[44.34, 44.09, 44.15, 43.61, 44.33]]}, "period": {"type": "integer", "minimum": 1, "maximum": 99999, "default": 14, "description": "How many price changes are averaged; 14 is usual."}, "overbought": {"type": "number", "minimum": 0, "maximum": 100, "default": 70, "description": "The RSI from which on the answer''s `overbought` is true."}, "oversold": {"type": "number", "minimum": 0, "maximum": 100, "default": 30, "description": "The RSI down from which the answer''s `oversold` is true."}, "include_series": {"type": "boolean", "default": true, "description": "false leaves `series` out of the answer: shorter when only the last value matters."}}, "required": ["prices"], "examples": [{"prices": [44.34, 44.09, 44.15, 43.61, 44.33], "period": 3}]}','{"type": "object", "properties": {"rsi": {"type": "number", "minimum": 0, "maximum": 100, "description": "The RSI at the last price."}, "overbought": {"type": "boolean", "description": "Whether `rsi` is at or above the threshold."}, "oversold": {"type": "boolean", "description": "Whether `rsi` is at or below the threshold."}, "period": {"type": "integer", "description": "The period that was used."}, "series": {"type": "array", "items": {"type": ["number", "null"]}, "description": "The RSI at every price, as many as `prices`; null for the first `period` of them."}}, "required": ["rsi", "overbought", "oversold", "period"]}',NULL,NULL,1,1,1,'Calculate RSI','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0);
INSERT INTO "tools" VALUES('41a86778e8bd54c69de12c75630f7f9e',1,'2026-11-18 16:40:29.745136','2026-11-18 16:40:29.745136',0,NULL,'01a1ef87fe6570fdbe49fda4b2de2915','current_time','Returns the current date, time and weekday, in UTC or in the time zone you name. Call it whenever an answer depends on what day or time it is now; you cannot know that otherwise.','builtin','{"operation": "current_time"}','{"type": "object", "properties": {"timezone": {"type": "string", "maxLength": 64, "default": "UTC", "description": "An IANA time zone name.", "examples": ["UTC", "Europe/Berlin", "America/New_York"]}}, "examples": [{}, {"timezone": "Europe/Berlin"}]}','{"type": "object", "properties": {"iso": {"type": "string", "format": "date-time", "description": "ISO 8601, with the zone''s offset."}, "unix": {"type": "integer", "description": "Seconds since 1970-01-01T00:00:00Z."}, "timezone": {"type": "string", "description": "The time zone of `iso`, `date`, `time` and `weekday`."}, "abbreviation": {"type": ["string", "null"], "description": "What the zone is called now, such as CEST."}, "date": {"type": "string", "format": "date"}, "time": {"type": "string", "description": "HH:MM:SS, on a 24-hour clock."}, "weekday": {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]}}, "required": ["iso", "unix", "timezone", "date", "time", "weekday"]}',NULL,NULL,1,1,1,'Current Time','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0);
INSERT INTO "tools" VALUES('9e60bc7b2e6952c6bbf20b00e3006074',1,'2026-11-18 16:40:29.754884','2026-11-18 16:40:29.754884',0,NULL,'01a1ef87fe6570fdbe49fda4b2de2915','json_query','Selects, filters, sorts and reshapes parts of a JSON value with a JMESPath query, and returns what it finds; null where nothing matches. Use it to get a few values out of a large JSON result without copying it by hand. Numbers in a query stand in backticks (`10`), strings in single quotes (''red''). It has no arithmetic.','builtin','{"operation": "json_query"}','{"type": "object", "properties": {"data": {"description": "The JSON value to query: an object or array, not a string with JSON in it."}, "query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The JMESPath expression.", "examples": ["items[0].name", "items[?price > `10`].{name: name, price: price}", "sort_by(items, &price)[-1]", "length(items)"]}}, "required": ["data", "query"], "examples": [{"data": {"items": [{"name": "a", "price": 5}, {"name": "b", "price": 20}]}, "query": "items[?price > `10`]"}]}','{"type": "object", "properties": {"result": {"description": "What the query selects; null where nothing matches."}}, "required": ["result"]}',NULL,NULL,1,1,1,'JSON Query','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0);
INSERT INTO "tools" VALUES('01a1ef88004c77c08f00f9ad2e841f0e',2,'2026-11-18 16:40:30.028480','2026-11-18 16:40:30.028480',0,NULL,'01a1ef87fe6570fdbe49fda4b2de2915','kept','Golden kept','mock','{"mock_response": {"sky": "clear"}}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,1,NULL,0,0);
INSERT INTO "tools" VALUES('01a1ef88005876c7a2e6f62bead62640',3,'2026-11-18 16:40:30.040417','2026-11-18 16:40:30.040417',0,NULL,'01a1ef87fe6570fdbe49fda4b2de2915','limited','Golden limited','mock','{"mock_response": 1}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,'{"max_calls": 1, "period": "hour", "burst": null, "scope": "caller"}',1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,0,NULL,0,0);
INSERT INTO "tools" VALUES('01a1ef8803b172abbfaf4468cbd709ed',8,'2026-11-18 16:40:30.897157','2026-11-18 16:40:30.897157',0,NULL,'01a1ef87fe6570fdbe49fda4b2de2915','note','Golden note','table','{"tableName": "notes", "fields": [{"name": "text", "dataType": "text"}]}','{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"text": {"type": ["string", "null"]}}, "required": [], "additionalProperties": false}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'reject','detailed',NULL,NULL,0,0,0,0,NULL,0,0);
INSERT INTO "tools" VALUES('01a1ef8803e57696a15e814160707715',9,'2026-11-18 16:40:30.949404','2026-11-18 16:40:30.949404',0,NULL,'01a1ef87fe6570fdbe49fda4b2de2915','print','Golden print','python','{"code": "def show(text: str) -> str:\n    print(''printed'', text)\n    return text\n"}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,0,NULL,0,0);
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
INSERT INTO "users" VALUES('01a1ef87fe6570fdbe49fda4b2de2915',1,'2026-11-18 16:40:29.541055','2026-11-18 16:40:29.541055',0,NULL,'admin','admin');
INSERT INTO "users" VALUES('01a1ef8801cc714cb7c4e13bbd8a311a',4,'2026-11-18 16:40:30.412072','2026-11-18 16:40:30.412072',0,NULL,'ada','member');
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
INSERT INTO "writers" VALUES(1,'01a1ef87ffc67a5b88fcb48b66e7b644','vm',2329,'2026-11-18 16:40:29.988382','2026-11-18 16:40:41.257895',31,21,'792d804e46ccb552b4752d2a1c35fcd6','bd22c098a5a040f15f270c4d49b8b420',3,'d39c938474879347bee57483d253595a','fa00b6725e1085c3c654a6053633613b',21);
INSERT INTO "writers" VALUES(2,'01a1ef882ab47418892dd9ecca3cacd7','vm',2593,'2026-11-18 16:40:40.908575','2026-11-18 16:40:41.138874',1,0,'','6a166176cc94ff5fe7f38892de411dd8',0,'','',0);
INSERT INTO "writers" VALUES(3,'01a1ef882b7771eca027ad5217002ee4','vm',2329,'2026-11-18 16:40:41.139386','2026-11-18 16:40:41.240492',2,1,'b88b611e375fd2ec1b1cfcfd4bfaf9e9','a4af572ad08e4ba7cef1da3b55452cc8',0,'','',1);
INSERT INTO "writers" VALUES(4,'01a1ef8864d278e5b6920376acaf8797','vm',2681,'2026-11-18 16:40:55.884544','2026-11-18 16:40:55.906704',2,1,'95e9479e6bb3107205ddc18d495d2117','c86af41f9f30847de081f399769d708f',0,'','',1);
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
