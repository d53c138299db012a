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
INSERT INTO "agents" VALUES('01a1ef88eeca7d55aee54ac1ebf0b2e6',6,'2026-11-18 16:41:31.082825','2026-11-18 16:41:31.082825',0,NULL,'01a1ef88ee5d728a8b2cb35a31bc6a2b','helper',NULL,'[]');
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0005_conversations');
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
INSERT INTO "api_keys" VALUES('01a1ef88eb54784ca905b44db5e62785',1,'2026-11-18 16:41:30.189872','01a1ef88eb377065917cb45bf879b225','PEGBOARD_ADMIN_KEY','the-admi','4a926f4e9b4574181ccf97e68f1d57c3ea45a7338d224f150304f020afd0e98b',NULL,NULL,NULL);
INSERT INTO "api_keys" VALUES('01a1ef88ee94773181380400f469f6a9',5,'2026-11-18 16:41:31.028441','01a1ef88ee5d728a8b2cb35a31bc6a2b','laptop','pb_W_3wi','60d3413d4d8a4f52180ec199dc64ac3eefc4f3db142a6abe6ae9d132e2b9d7b6',NULL,NULL,NULL);
INSERT INTO "api_keys" VALUES('01a1ef88ef1175e8850ef368b623d2b5',7,'2026-11-18 16:41:31.153361','01a1ef88ee5d728a8b2cb35a31bc6a2b','robot','pb_zD1G4','54f9dce4568bda556faad14e3292dbdd7f67028a9818bc1687a49b0362ad6983','01a1ef88eeca7d55aee54ac1ebf0b2e6',NULL,NULL);
CREATE TABLE board_state (
	id INTEGER NOT NULL, 
	revision BIGINT NOT NULL, writers INTEGER DEFAULT '0' NOT NULL, writers_signature VARCHAR(32) DEFAULT '' NOT NULL, 
	CONSTRAINT pk_board_state PRIMARY KEY (id), 
	CONSTRAINT ck_board_state_single CHECK (id = 1)
);
INSERT INTO "board_state" VALUES(1,12,4,'0ade5935d44a354a93c214c763491a2f');
CREATE TABLE cancellations (
	run_id CHAR(32) NOT NULL, 
	why TEXT NOT NULL, 
	asked_at DATETIME NOT NULL, 
	CONSTRAINT pk_cancellations PRIMARY KEY (run_id)
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
INSERT INTO "execution_counts" VALUES(498616,'','','refused','tool_not_found',70,1);
INSERT INTO "execution_counts" VALUES(498616,'','','refused','tool_not_found',76,1);
INSERT INTO "execution_counts" VALUES(498616,'','dies','in_doubt','in_doubt',97,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',81,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',83,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',84,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',88,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',91,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',111,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',142,1);
INSERT INTO "execution_counts" VALUES(498616,'','fails','failed','execution_failed',158,1);
INSERT INTO "execution_counts" VALUES(498616,'','kept','refused','missing',102,1);
INSERT INTO "execution_counts" VALUES(498616,'','kept','succeeded','',107,1);
INSERT INTO "execution_counts" VALUES(498616,'','limited','refused','rate_limited',87,1);
INSERT INTO "execution_counts" VALUES(498616,'','limited','succeeded','',109,1);
INSERT INTO "execution_counts" VALUES(498616,'','math_eval','failed','execution_failed',107,1);
INSERT INTO "execution_counts" VALUES(498616,'','note','succeeded','',186,1);
INSERT INTO "execution_counts" VALUES(498616,'','once','refused','idempotency_conflict',159,1);
INSERT INTO "execution_counts" VALUES(498616,'','once','succeeded','',157,2);
INSERT INTO "execution_counts" VALUES(498616,'','print','succeeded','',225,1);
INSERT INTO "execution_counts" VALUES(498616,'','replaced','succeeded','',158,1);
INSERT INTO "execution_counts" VALUES(498616,'','tried','failed','contract_violation',163,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef88-eb37-7065-917c-b45bf879b225','','refused','tool_not_found',76,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef88-eb37-7065-917c-b45bf879b225','dies','in_doubt','in_doubt',97,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef88-eb37-7065-917c-b45bf879b225','echo','succeeded','',83,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef88-eb37-7065-917c-b45bf879b225','echo','succeeded','',88,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef88-eb37-7065-917c-b45bf879b225','echo','succeeded','',91,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef88-eb37-7065-917c-b45bf879b225','echo','succeeded','',111,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef88-eb37-7065-917c-b45bf879b225','echo','succeeded','',142,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef88-eb37-7065-917c-b45bf879b225','fails','failed','execution_failed',158,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef88-eb37-7065-917c-b45bf879b225','kept','refused','missing',102,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef88-eb37-7065-917c-b45bf879b225','kept','succeeded','',107,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef88-eb37-7065-917c-b45bf879b225','limited','refused','rate_limited',87,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef88-eb37-7065-917c-b45bf879b225','limited','succeeded','',109,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef88-eb37-7065-917c-b45bf879b225','math_eval','failed','execution_failed',107,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef88-eb37-7065-917c-b45bf879b225','note','succeeded','',186,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef88-eb37-7065-917c-b45bf879b225','once','refused','idempotency_conflict',159,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef88-eb37-7065-917c-b45bf879b225','once','succeeded','',157,2);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef88-eb37-7065-917c-b45bf879b225','print','succeeded','',225,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef88-eb37-7065-917c-b45bf879b225','replaced','succeeded','',158,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef88-eb37-7065-917c-b45bf879b225','tried','failed','contract_violation',163,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef88-ee5d-728a-8b2c-b35a31bc6a2b','','refused','tool_not_found',70,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef88-ee5d-728a-8b2c-b35a31bc6a2b','echo','succeeded','',81,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef88-ee5d-728a-8b2c-b35a31bc6a2b','echo','succeeded','',84,1);
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
INSERT INTO "executions" VALUES('01a1ef88ed0773ccab99e844b821cd1a','echo','succeeded','2026-11-18 16:41:30.631232','2026-11-18 16:41:30.631511',0.233,'01a1ef88-eb37-7065-917c-b45bf879b225','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef88-ed07-73cc-ab99-e844b821cd1a',NULL,NULL,'47add88a7fce501893690e97f470626e',NULL,NULL,NULL,NULL,NULL,NULL,1,4,'908fb15f6fd5aca884dbaf39f037aaec',NULL);
INSERT INTO "executions" VALUES('01a1ef88ed1c760db63eae59a7ee217b','kept','succeeded','2026-11-18 16:41:30.652370','2026-11-18 16:41:30.653017',0.605,'01a1ef88-eb37-7065-917c-b45bf879b225','admin','library','plain',1,'01a1ef88-ecb1-7486-9dda-8e768ed69bd4',1,'mock',NULL,NULL,'01a1ef88-ed1c-760d-b63e-ae59a7ee217b',NULL,NULL,'f3cd4a2da7e28bb94d7712b30bfdb1cb','{"text":"a ☃ and a 😀, \"quoted\", \\ and a\nline","number":-1.5e+300}',NULL,NULL,NULL,NULL,NULL,1,5,'77eda4e311fb28a9b7ce02da602dc872',NULL);
INSERT INTO "executions" VALUES('01a1ef88ed247492a0a0680a664f8fb4','fails','failed','2026-11-18 16:41:30.660280','2026-11-18 16:41:30.673020',12.682,'01a1ef88-eb37-7065-917c-b45bf879b225','admin','library','plain',1,'292d6f6c-a238-532d-ba7c-02469f556f4e',1,'internal',NULL,NULL,'01a1ef88-ed24-7492-a0a0-680a664f8fb4','execution_failed','cannot do a ☃ and a 😀, "quoted", \ and a
line','47add88a7fce501893690e97f470626e',NULL,NULL,NULL,NULL,NULL,NULL,1,6,'b1c552f45480d0d2859626a12a738db8',NULL);
INSERT INTO "executions" VALUES('01a1ef88ed3c75e0a3d84646fe158ea1','math_eval','failed','2026-11-18 16:41:30.684359','2026-11-18 16:41:30.685006',0.597,'01a1ef88-eb37-7065-917c-b45bf879b225','admin','library','plain',1,'4f56c6ab-4df0-5007-b192-54f29c273c7e',1,'builtin',NULL,NULL,'01a1ef88-ed3c-75e0-a3d8-4646fe158ea1','execution_failed','Division by zero at position 2; change the divisor','0d3899c6fc5f36f4df6038ed7db5ba34',NULL,NULL,NULL,NULL,NULL,NULL,1,7,'7d86c840bbcd89728674bf6996ab5568',NULL);
INSERT INTO "executions" VALUES('01a1ef88ed4072c7bfaf001d926480e2','kept','refused','2026-11-18 16:41:30.688169','2026-11-18 16:41:30.688646',0.44,'01a1ef88-eb37-7065-917c-b45bf879b225','admin','library','plain',0,'01a1ef88-ecb1-7486-9dda-8e768ed69bd4',1,'mock',NULL,NULL,'01a1ef88-ed40-72c7-bfaf-001d926480e2','missing','Invalid parameters: missing ''text''',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,8,'9369bdbd9dc8f0f8479c3893e358a470',NULL);
INSERT INTO "executions" VALUES('01a1ef88ed4c746e88388e15326ecf14','no_such_tool','refused','2026-11-18 16:41:30.700270','2026-11-18 16:41:30.700402',0.094,'01a1ef88-eb37-7065-917c-b45bf879b225','admin','library','plain',0,NULL,NULL,NULL,NULL,NULL,'01a1ef88-ed4c-746e-8838-8e15326ecf14','tool_not_found','Tool ''no_such_tool'' not found',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,9,'e6236d0c91c35a52e9c6bfee13da53dd',NULL);
INSERT INTO "executions" VALUES('01a1ef88ed5473fca25e8066fe59e325','limited','succeeded','2026-11-18 16:41:30.708243','2026-11-18 16:41:30.708941',0.664,'01a1ef88-eb37-7065-917c-b45bf879b225','admin','library','plain',1,'01a1ef88-ecde-75e5-b1b3-cc21e2107368',1,'mock',NULL,NULL,'01a1ef88-ed54-73fc-a25e-8066fe59e325',NULL,NULL,'4f94f30933a8022365eb0e64e1833e4f',NULL,NULL,NULL,NULL,NULL,NULL,1,10,'9191caa8fe1ba356a33502033cc3e47d',NULL);
INSERT INTO "executions" VALUES('01a1ef88ed607468a93a4e28670d2fa7','limited','refused','2026-11-18 16:41:30.720269','2026-11-18 16:41:30.720482',0.179,'01a1ef88-eb37-7065-917c-b45bf879b225','admin','library','plain',0,'01a1ef88-ecde-75e5-b1b3-cc21e2107368',1,'mock',NULL,NULL,'01a1ef88-ed60-7468-a93a-4e28670d2fa7','rate_limited','Rate limit of ''limited'' reached: 1 call per hour; try again in 3600 s','5abd403df62087e809a733341b955711',NULL,NULL,NULL,NULL,NULL,NULL,1,11,'ac7c3d148071508d18654054b074afb1',NULL);
INSERT INTO "executions" VALUES('01a1ef88ef4771fa855e4f304be39fc6','echo','succeeded','2026-11-18 16:41:31.207117','2026-11-18 16:41:31.207300',0.15,'01a1ef88-ee5d-728a-8b2c-b35a31bc6a2b','ada','rest','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin','01a1ef88-ee94-7731-8138-0400f469f6a9',NULL,'request-1',NULL,NULL,'0d26d99e8b43248aa3948c31d1ba258e',NULL,NULL,NULL,NULL,NULL,NULL,1,12,'959cfdf033da8b3bfacce5d350f352c1',NULL);
INSERT INTO "executions" VALUES('01a1ef88ef59724e806bf4fc28bc8c1f','echo','refused','2026-11-18 16:41:31.225137','2026-11-18 16:41:31.225227',0.063,'01a1ef88-ee5d-728a-8b2c-b35a31bc6a2b','ada','rest','plain',0,NULL,NULL,NULL,'01a1ef88-ef11-75e8-850e-f368b623d2b5','01a1ef88-eeca-7d55-aee5-4ac1ebf0b2e6','01a1ef88-ef59-724e-806b-f4fc28bc8c1f','tool_not_found','Tool ''echo'' not found',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,13,'fc5024b02f148478fefd397fb2907e74',NULL);
INSERT INTO "executions" VALUES('01a1ef88ef717003bef1f138e97908fb','echo','succeeded','2026-11-18 16:41:31.248993','2026-11-18 16:41:31.249144',0.122,'01a1ef88-ee5d-728a-8b2c-b35a31bc6a2b','ada','rest','openai_chat',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin','01a1ef88-ee94-7731-8138-0400f469f6a9',NULL,'01a1ef88-ef69-7d3c-9d31-9d51dee26202',NULL,NULL,'482f051e711f9c2abb134a7ed87a9b5f',NULL,NULL,NULL,NULL,NULL,NULL,1,14,'f52e7348249919de2f078cedb60dfa86',NULL);
INSERT INTO "executions" VALUES('01a1ef88ef857487a1d50b508070279c','once','succeeded','2026-11-18 16:41:31.269278','2026-11-18 16:41:31.281161',11.821,'01a1ef88-eb37-7065-917c-b45bf879b225','admin','library','plain',1,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1ef88-ef85-7487-a1d5-0b508070279c',NULL,NULL,'fca492651e6b883e4ed1f568178f52b5',NULL,NULL,NULL,NULL,NULL,'"A"',1,15,'29f0c04a3d1803c76d16ead28b38e720',NULL);
INSERT INTO "executions" VALUES('01a1ef88ef9c79009d036b8c4221b1fb','once','succeeded','2026-11-18 16:41:31.292555','2026-11-18 16:41:31.293911',11.821,'01a1ef88-eb37-7065-917c-b45bf879b225','admin','library','plain',0,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1ef88-ef9c-7900-9d03-6b8c4221b1fb',NULL,NULL,'fca492651e6b883e4ed1f568178f52b5',NULL,NULL,NULL,NULL,'01a1ef88-ef85-7487-a1d5-0b508070279c','"A"',1,16,'9ee719acda28c0786b770aaf6dc0b548',NULL);
INSERT INTO "executions" VALUES('01a1ef88efa3708e862fa82a0a07d52c','once','refused','2026-11-18 16:41:31.299030','2026-11-18 16:41:31.312265',13.191,'01a1ef88-eb37-7065-917c-b45bf879b225','admin','library','plain',0,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1ef88-efa3-708e-862f-a82a0a07d52c','idempotency_conflict','This idempotency key was used for ''once'' with other arguments; send the same arguments again, or a new key for a new call','73b2678a95704bfea77ae1e3da28f277',NULL,NULL,NULL,NULL,NULL,NULL,1,17,'0b8eb965b697cc28a9de62663a625edf',NULL);
INSERT INTO "executions" VALUES('01a1ef88efc571c58c9c527cb4a42217','tried','failed','2026-11-18 16:41:31.333106','2026-11-18 16:41:31.350056',16.904,'01a1ef88-eb37-7065-917c-b45bf879b225','admin','library','plain',2,'47fe7a73-0ae4-5d70-aa28-58a231407683',1,'internal',NULL,NULL,'01a1ef88-efc5-71c5-8c9c-527cb4a42217','contract_violation','The tool''s output breaks its output schema: The output must be an integer','2c69549fff30cb3573533edbce04fb9e',NULL,NULL,NULL,NULL,NULL,NULL,1,18,'12f6d49aab34a83ece1e81d8a400b2fb',NULL);
INSERT INTO "executions" VALUES('01a1ef88efe677e6bdf11a5739882b33','replaced','succeeded','2026-11-18 16:41:31.366486','2026-11-18 16:41:31.379535',13.011,'01a1ef88-eb37-7065-917c-b45bf879b225','admin','library','plain',2,'0b58c42c-a575-56ea-8e61-45f3fdeaeca4',1,'internal',NULL,NULL,'01a1ef88-efe6-77e6-bdf1-1a5739882b33',NULL,NULL,'2c69549fff30cb3573533edbce04fb9e',NULL,NULL,NULL,NULL,NULL,NULL,1,19,'caa0db3c0265cc5acfaa228422448a98',NULL);
INSERT INTO "executions" VALUES('01a1ef88f071709bab11888a5cd452dc','note','succeeded','2026-11-18 16:41:31.505032','2026-11-18 16:41:31.572389',67.307,'01a1ef88-eb37-7065-917c-b45bf879b225','admin','library','plain',1,'01a1ef88-f00c-73bb-a99e-5ce353973ca0',1,'table',NULL,NULL,'01a1ef88-f071-709b-ab11-888a5cd452dc',NULL,NULL,'ef83417e48a162b9b063edc6bca8d573',NULL,'1',NULL,NULL,NULL,NULL,1,20,'e347db560129391caf6e557ec0a4c092',NULL);
INSERT INTO "executions" VALUES('01a1ef88f0e47639a1d4f9e337cfc3a7','print','succeeded','2026-11-18 16:41:31.620380','2026-11-18 16:41:32.314860',694.434,'01a1ef88-eb37-7065-917c-b45bf879b225','admin','library','plain',1,'01a1ef88-f049-7421-b4cd-ba3ce60f515e',1,'python',NULL,NULL,'01a1ef88-f0e4-7639-a1d4-f9e337cfc3a7',NULL,NULL,'71c3d231ad8fbe6b8e303898cfc5468a',NULL,NULL,NULL,NULL,NULL,NULL,1,21,'1a88b58234a33ac6032d42691e8adbac','printed text
');
INSERT INTO "executions" VALUES('01a1ef89124a7f43b0dbfe223dbf73ab','dies','in_doubt','2026-11-18 16:41:40.170949','2026-11-18 16:41:40.591613',0.327,'01a1ef88-eb37-7065-917c-b45bf879b225','admin','library','plain',1,'301f3051-930d-5d5d-ae86-e078a5b82b33',1,'internal',NULL,NULL,'01a1ef89-124a-7f43-b0db-fe223dbf73ab','in_doubt','The server ended while this call was running; whether it took effect is not known','2c69549fff30cb3573533edbce04fb9e',NULL,NULL,NULL,NULL,NULL,NULL,3,1,'bdb3807860b50c508498b009e0223321',NULL);
INSERT INTO "executions" VALUES('01a1ef89394776488d64dd9ccb3a3c4c','echo','succeeded','2026-11-18 16:41:50.151388','2026-11-18 16:41:50.156283',4.827,'01a1ef88-eb37-7065-917c-b45bf879b225','admin','cli','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef89-3947-7648-8d64-dd9ccb3a3c4c',NULL,NULL,'17e5fc5a52b1c6285a82c71760c13203',NULL,NULL,NULL,NULL,NULL,NULL,4,1,'70e4f2fe2e7a3bfce008c9efb1ef5ef2',NULL);
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
INSERT INTO "intents" VALUES('01a1ef88ef857487a1d50b508070279c',1,'done','',0,'cf515442c5158672805aca985ffeb81868d405465d9ed779e83cb7bb099062fd','fca492651e6b883e4ed1f568178f52b5','pb1:b3457b1d:OT6Vgp7IrXG39_O5oVhLV630M1-5jWCNPhUwklK3cYr3vt-BBZvFv9thX-CbZw7szOijn4Wv-fV0f5KRVVYXMQ8zF5kY_lOeg9XmZC401l0KYwwcYRuAm4yIXfwOVtmneELdPsvDCSKkdJ6ws1GxluWH7sGNVExAteiNj2CyD1VWaHC0Y6RyxQ','2026-11-19 16:41:31.269618');
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
INSERT INTO "secrets" VALUES('01a1ef88eb40763b8cb28b0754b7eda8',1,'2026-11-18 16:41:30.176384','2026-11-18 16:41:30.176384','01a1ef88eb377065917cb45bf879b225','$root','pb1:b3457b1d:8qcVZJfRw9NSDtUnPfBZxUL8jJK6DAHuLJyVulAeLQFzIL6fVGiFTdtxlh6xmzBW_4NaP0h_yOTxiDtWZsUao5Af19l9c8r_');
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
INSERT INTO "tool_versions" VALUES('01a1ef88eb807f759d29681c6f8f22fa','4f56c6ab4df05007b19254f29c273c7e',1,'{"name": "math_eval", "tool_type": "builtin", "config": {"operation": "math_eval"}, "input_schema": {"type": "object", "properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "The expression to evaluate.", "examples": ["2+2", "(1 + 0.05)^10 * 1000", "sqrt(3^2 + 4^2)", "sin(radians(30))"]}}, "required": ["expression"], "examples": [{"expression": "(1 + 0.05)^10 * 1000"}]}, "description": "Evaluates one arithmetic expression and returns the number. Use it for any calculation beyond trivial mental arithmetic instead of working it out yourself. Operators: + - * / // (floor division) % (modulo, not percent) ^ or ** (power) and ! (factorial). Constants: pi, e, tau. Functions: sqrt, cbrt, abs, round, floor, ceil, trunc, sign, exp, log, ln, log2, log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, min, max, sum, mean, pow, mod, gcd, lcm, factorial, hypot, degrees, radians. Angles are in radians; log is natural unless written log(x, base). There are no variables, comparisons, lists or units, and numbers are written without thousands separators.", "output_schema": {"type": "object", "properties": {"result": {"type": "number", "description": "The value; whole numbers beyond 64 bits are rounded to a floating-point number."}}, "required": ["result"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Calculator", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:41:30.208273','01a1ef88-eb37-7065-917c-b45bf879b225');
INSERT INTO "tool_versions" VALUES('01a1ef88eb8f7263b158d9649fe14094','6b6d2eda2c7950659ce66502d73cc282',1,'{"name": "echo", "tool_type": "builtin", "config": {"operation": "echo"}, "input_schema": {"type": "object", "additionalProperties": true, "examples": [{"message": "hello"}]}, "description": "Returns exactly the arguments it was called with, under `echo`. Use it to check that tool calls work and how your arguments arrive; it does nothing else.", "output_schema": {"type": "object", "properties": {"echo": {"type": "object", "description": "The arguments of the call."}}, "required": ["echo"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Echo", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:41:30.244470','01a1ef88-eb37-7065-917c-b45bf879b225');
INSERT INTO "tool_versions" VALUES('01a1ef88eba07102ba309f5a8b488a15','85f568ed8cd35e11a508d3927f353e28',1,'{"name": "calculate_rsi", "tool_type": "builtin", "config": {"operation": "calculate_rsi"}, "input_schema": {"type": "object", "properties": {"prices": {"type": "array", "items": {"type": "number", "minimum": -1e+300, "maximum": 1e+300}, "minItems": 2, "maxItems": 100000, "description": "Closing prices, oldest first; at least period + 1.", "examples": [[44.34, 44.09, 44.15, 43.61, 44.33]]}, "period": {"type": "integer", "minimum": 1, "maximum": 99999, "default": 14, "description": "How many price changes are averaged; 14 is usual."}, "overbought": {"type": "number", "minimum": 0, "maximum": 100, "default": 70, "description": "The RSI from which on the answer''s `overbought` is true."}, "oversold": {"type": "number", "minimum": 0, "maximum": 100, "default": 30, "description": "The RSI down from which the answer''s `oversold` is true."}, "include_series": {"type": "boolean", "default": true, "description": "false leaves `series` out of the answer: shorter when only the last value matters."}}, "required": ["prices"], "examples": [{"prices": [44.34, 44.09, 44.15, 43.61, 44.33], "period": 3}]}, "description": "Calculates the relative strength index (RSI) of a series of prices, with Wilder''s smoothing, and says whether the last value is overbought or oversold. Give the closing prices oldest first, at least period + 1 of them; around 100 or more make the smoothing settle. It fetches no prices: you must have them already.", "output_schema": {"type": "object", "properties": {"rsi": {"type": "number", "minimum": 0, "maximum": 100, "description": "The RSI at the last price."}, "overbought": {"type": "boolean", "description": "Whether `rsi` is at or above the threshold."}, "oversold": {"type": "boolean", "description": "Whether `rsi` is at or below the threshold."}, "period": {"type": "integer", "description": "The period that was used."}, "series": {"type": "array", "items": {"type": ["number", "null"]}, "description": "The RSI at every price, as many as `prices`; null for the first `period` of them."}}, "required": ["rsi", "overbought", "oversold", "period"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Calculate RSI", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:41:30.255659','01a1ef88-eb37-7065-917c-b45bf879b225');
INSERT INTO "tool_versions" VALUES('01a1ef88ebac79189657829b0e0f6358','41a86778e8bd54c69de12c75630f7f9e',1,'{"name": "current_time", "tool_type": "builtin", "config": {"operation": "current_time"}, "input_schema": {"type": "object", "properties": {"timezone": {"type": "string", "maxLength": 64, "default": "UTC", "description": "An IANA time zone name.", "examples": ["UTC", "Europe/Berlin", "America/New_York"]}}, "examples": [{}, {"timezone": "Europe/Berlin"}]}, "description": "Returns the current date, time and weekday, in UTC or in the time zone you name. Call it whenever an answer depends on what day or time it is now; you cannot know that otherwise.", "output_schema": {"type": "object", "properties": {"iso": {"type": "string", "format": "date-time", "description": "ISO 8601, with the zone''s offset."}, "unix": {"type": "integer", "description": "Seconds since 1970-01-01T00:00:00Z."}, "timezone": {"type": "string", "description": "The time zone of `iso`, `date`, `time` and `weekday`."}, "abbreviation": {"type": ["string", "null"], "description": "What the zone is called now, such as CEST."}, "date": {"type": "string", "format": "date"}, "time": {"type": "string", "description": "HH:MM:SS, on a 24-hour clock."}, "weekday": {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]}}, "required": ["iso", "unix", "timezone", "date", "time", "weekday"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Current Time", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:41:30.272722','01a1ef88-eb37-7065-917c-b45bf879b225');
INSERT INTO "tool_versions" VALUES('01a1ef88ebb6770f87a419145ea037ab','9e60bc7b2e6952c6bbf20b00e3006074',1,'{"name": "json_query", "tool_type": "builtin", "config": {"operation": "json_query"}, "input_schema": {"type": "object", "properties": {"data": {"description": "The JSON value to query: an object or array, not a string with JSON in it."}, "query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The JMESPath expression.", "examples": ["items[0].name", "items[?price > `10`].{name: name, price: price}", "sort_by(items, &price)[-1]", "length(items)"]}}, "required": ["data", "query"], "examples": [{"data": {"items": [{"name": "a", "price": 5}, {"name": "b", "price": 20}]}, "query": "items[?price > `10`]"}]}, "description": "Selects, filters, sorts and reshapes parts of a JSON value with a JMESPath query, and returns what it finds; null where nothing matches. Use it to get a few values out of a large JSON result without copying it by hand. Numbers in a query stand in backticks (`10`), strings in single quotes (''red''). It has no arithmetic.", "output_schema": {"type": "object", "properties": {"result": {"description": "What the query selects; null where nothing matches."}}, "required": ["result"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "JSON Query", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:41:30.285125','01a1ef88-eb37-7065-917c-b45bf879b225');
INSERT INTO "tool_versions" VALUES('01a1ef88eccc7cb58e3ac6939a534320','01a1ef88ecb174869dda8e768ed69bd4',1,'{"name": "kept", "tool_type": "mock", "config": {"mock_response": {"sky": "clear"}}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden kept", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": true, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:41:30.545277','01a1ef88-eb37-7065-917c-b45bf879b225');
INSERT INTO "tool_versions" VALUES('01a1ef88ecec72ed99c33bcbe1584a41','01a1ef88ecde75e5b1b3cc21e2107368',1,'{"name": "limited", "tool_type": "mock", "config": {"mock_response": 1}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden limited", "output_schema": null, "rate_limit": {"max_calls": 1, "period": "hour", "burst": null, "scope": "caller"}, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:41:30.590332','01a1ef88-eb37-7065-917c-b45bf879b225');
INSERT INTO "tool_versions" VALUES('01a1ef88f0247b488cde362dab4550d5','01a1ef88f00c73bba99e5ce353973ca0',1,'{"name": "note", "tool_type": "table", "config": {"tableName": "notes", "fields": [{"name": "text", "dataType": "text"}]}, "input_schema": {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"text": {"type": ["string", "null"]}}, "required": [], "additionalProperties": false}, "description": "Golden note", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "reject", "result_style": "detailed", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:41:31.404221','01a1ef88-eb37-7065-917c-b45bf879b225');
INSERT INTO "tool_versions" VALUES('01a1ef88f058734192b09b1d9c6d461d','01a1ef88f0497421b4cdba3ce60f515e',1,'{"name": "print", "tool_type": "python", "config": {"code": "def show(text: str) -> str:\n    print(''printed'', text)\n    return text\n"}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden print", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "sealed_auth": null}','2026-11-18 16:41:31.465251','01a1ef88-eb37-7065-917c-b45bf879b225');
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
INSERT INTO "tools" VALUES('4f56c6ab4df05007b19254f29c273c7e',1,'2026-11-18 16:41:30.208273','2026-11-18 16:41:30.208273',0,NULL,'01a1ef88eb377065917cb45bf879b225','math_eval','Evaluates one arithmetic expression and returns the number. Use it for any calculation beyond trivial mental arithmetic instead of working it out yourself. Operators: + - * / // (floor division) % (modulo, not percent) ^ or ** (power) and ! (factorial). Constants: pi, e, tau. Functions: sqrt, cbrt, abs, round, floor, ceil, trunc, sign, exp, log, ln, log2, log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, min, max, sum, mean, pow, mod, gcd, lcm, factorial, hypot, degrees, radians. Angles are in radians; log is natural unless written log(x, base). There are no variables, comparisons, lists or units, and numbers are written without thousands separators.','builtin','{"operation": "math_eval"}','{"type": "object", "properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "The expression to evaluate.", "examples": ["2+2", "(1 + 0.05)^10 * 1000", "sqrt(3^2 + 4^2)", "sin(radians(30))"]}}, "required": ["expression"], "examples": [{"expression": "(1 + 0.05)^10 * 1000"}]}','{"type": "object", "properties": {"result": {"type": "number", "description": "The value; whole numbers beyond 64 bits are rounded to a floating-point number."}}, "required": ["result"]}',NULL,NULL,1,1,1,'Calculator','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('6b6d2eda2c7950659ce66502d73cc282',1,'2026-11-18 16:41:30.244470','2026-11-18 16:41:30.244470',0,NULL,'01a1ef88eb377065917cb45bf879b225','echo','Returns exactly the arguments it was called with, under `echo`. Use it to check that tool calls work and how your arguments arrive; it does nothing else.','builtin','{"operation": "echo"}','{"type": "object", "additionalProperties": true, "examples": [{"message": "hello"}]}','{"type": "object", "properties": {"echo": {"type": "object", "description": "The arguments of the call."}}, "required": ["echo"]}',NULL,NULL,1,1,1,'Echo','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('85f568ed8cd35e11a508d3927f353e28',1,'2026-11-18 16:41:30.255659','2026-11-18 16:41:30.255659',0,NULL,'01a1ef88eb377065917cb45bf879b225','calculate_rsi','Calculates the relative strength index (RSI) of a series of prices, with Wilder''s smoothing, and says whether the last value is overbought or oversold. Give the closing prices oldest first, at least period + 1 of them; around 100 or more make the smoothing settle. It fetches no prices: you must have them already.','builtin','{"operation": "calculate_rsi"}','{"type": "object", "properties": {"prices": {"type": "array", "items": {"type": "number", "minimum": -1e+300, "maximum": 1e+300}, "minItems": 2, "maxItems": 100000, "description": "Closing prices, oldest first; at least period + 1.", "examples": [[44.34, 44.09, 44.15, 43.61, 44.33]]}, "period": {"type": "integer", "minimum": 1, "maximum": 99999, "default": 14, "description": "How many price changes are averaged; 14 is usual."}, "overbought": {"type": "number", "minimum": 0, "maximum": 100, "default": 70, "description": "The RSI from which on the answer''s `overbought` is true."}, "oversold": {"type": "number", "minimum": 0, "maximum": 100, "default": 30, "description": "The RSI down from which the answer''s `oversold` is true."}, "include_series": {"type": "boolean", "default": true, "description": "false leaves `series` out of the answer: shorter when only the last value matters."}}, "required": ["prices"], "examples": [{"prices": [44.34, 44.09, 44.15, 43.61, 44.33], "period": 3}]}','{"type": "object", "properties": {"rsi": {"type": "number", "minimum": 0, "maximum": 100, "description": "The RSI at the last price."}, "overbought": {"type": "boolean", "description": "Whether `rsi` is at or above the threshold."}, "oversold": {"type": "boolean", "description": "Whether `rsi` is at or below the threshold."}, "period": {"type": "integer", "description": "The period that was used."}, "series": {"type": "array", "items": {"type": ["number", "null"]}, "description": "The RSI at every price, as many as `prices`; null for the first `period` of them."}}, "required": ["rsi", "overbought", "oversold", "period"]}',NULL,NULL,1,1,1,'Calculate RSI','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('41a86778e8bd54c69de12c75630f7f9e',1,'2026-11-18 16:41:30.272722','2026-11-18 16:41:30.272722',0,NULL,'01a1ef88eb377065917cb45bf879b225','current_time','Returns the current date, time and weekday, in UTC or in the time zone you name. Call it whenever an answer depends on what day or time it is now; you cannot know that otherwise.','builtin','{"operation": "current_time"}','{"type": "object", "properties": {"timezone": {"type": "string", "maxLength": 64, "default": "UTC", "description": "An IANA time zone name.", "examples": ["UTC", "Europe/Berlin", "America/New_York"]}}, "examples": [{}, {"timezone": "Europe/Berlin"}]}','{"type": "object", "properties": {"iso": {"type": "string", "format": "date-time", "description": "ISO 8601, with the zone''s offset."}, "unix": {"type": "integer", "description": "Seconds since 1970-01-01T00:00:00Z."}, "timezone": {"type": "string", "description": "The time zone of `iso`, `date`, `time` and `weekday`."}, "abbreviation": {"type": ["string", "null"], "description": "What the zone is called now, such as CEST."}, "date": {"type": "string", "format": "date"}, "time": {"type": "string", "description": "HH:MM:SS, on a 24-hour clock."}, "weekday": {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]}}, "required": ["iso", "unix", "timezone", "date", "time", "weekday"]}',NULL,NULL,1,1,1,'Current Time','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('9e60bc7b2e6952c6bbf20b00e3006074',1,'2026-11-18 16:41:30.285125','2026-11-18 16:41:30.285125',0,NULL,'01a1ef88eb377065917cb45bf879b225','json_query','Selects, filters, sorts and reshapes parts of a JSON value with a JMESPath query, and returns what it finds; null where nothing matches. Use it to get a few values out of a large JSON result without copying it by hand. Numbers in a query stand in backticks (`10`), strings in single quotes (''red''). It has no arithmetic.','builtin','{"operation": "json_query"}','{"type": "object", "properties": {"data": {"description": "The JSON value to query: an object or array, not a string with JSON in it."}, "query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The JMESPath expression.", "examples": ["items[0].name", "items[?price > `10`].{name: name, price: price}", "sort_by(items, &price)[-1]", "length(items)"]}}, "required": ["data", "query"], "examples": [{"data": {"items": [{"name": "a", "price": 5}, {"name": "b", "price": 20}]}, "query": "items[?price > `10`]"}]}','{"type": "object", "properties": {"result": {"description": "What the query selects; null where nothing matches."}}, "required": ["result"]}',NULL,NULL,1,1,1,'JSON Query','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('01a1ef88ecb174869dda8e768ed69bd4',2,'2026-11-18 16:41:30.545277','2026-11-18 16:41:30.545277',0,NULL,'01a1ef88eb377065917cb45bf879b225','kept','Golden kept','mock','{"mock_response": {"sky": "clear"}}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,1,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('01a1ef88ecde75e5b1b3cc21e2107368',3,'2026-11-18 16:41:30.590332','2026-11-18 16:41:30.590332',0,NULL,'01a1ef88eb377065917cb45bf879b225','limited','Golden limited','mock','{"mock_response": 1}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,'{"max_calls": 1, "period": "hour", "burst": null, "scope": "caller"}',1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('01a1ef88f00c73bba99e5ce353973ca0',8,'2026-11-18 16:41:31.404221','2026-11-18 16:41:31.404221',0,NULL,'01a1ef88eb377065917cb45bf879b225','note','Golden note','table','{"tableName": "notes", "fields": [{"name": "text", "dataType": "text"}]}','{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"text": {"type": ["string", "null"]}}, "required": [], "additionalProperties": false}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'reject','detailed',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel');
INSERT INTO "tools" VALUES('01a1ef88f0497421b4cdba3ce60f515e',9,'2026-11-18 16:41:31.465251','2026-11-18 16:41:31.465251',0,NULL,'01a1ef88eb377065917cb45bf879b225','print','Golden print','python','{"code": "def show(text: str) -> str:\n    print(''printed'', text)\n    return text\n"}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel');
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
INSERT INTO "users" VALUES('01a1ef88eb377065917cb45bf879b225',1,'2026-11-18 16:41:30.167017','2026-11-18 16:41:30.167017',0,NULL,'admin','admin');
INSERT INTO "users" VALUES('01a1ef88ee5d728a8b2cb35a31bc6a2b',4,'2026-11-18 16:41:30.973151','2026-11-18 16:41:30.973151',0,NULL,'ada','member');
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
INSERT INTO "writers" VALUES(1,'01a1ef88ebf7769c852cdd24455d981b','vm',3740,'2026-11-18 16:41:30.432427','2026-11-18 16:41:40.687612',31,21,'1a88b58234a33ac6032d42691e8adbac','8e17d44dfe968dee82ff94248a0077ff',3,'e245e0ac72f4a7e0038a2bf94747e34f','5ae9916909e4e5dd7b8e1c155f112a83',21);
INSERT INTO "writers" VALUES(2,'01a1ef8911fa7dbb814fc1f4e206f7c3','vm',3961,'2026-11-18 16:41:40.196787','2026-11-18 16:41:40.591291',1,0,'','ef34959d3f7b97fd216ce6e1f2a16903',0,'','',0);
INSERT INTO "writers" VALUES(3,'01a1ef8913697fcab4a34ae499e8d207','vm',3740,'2026-11-18 16:41:40.591812','2026-11-18 16:41:40.652939',2,1,'bdb3807860b50c508498b009e0223321','3cd4526861d08b4dbde1309367f06391',0,'','',1);
INSERT INTO "writers" VALUES(4,'01a1ef8938e17dddac82b5746ea2eca8','vm',4162,'2026-11-18 16:41:50.162767','2026-11-18 16:41:50.269647',2,1,'70e4f2fe2e7a3bfce008c9efb1ef5ef2','379ccbe7afd590bf7881c2481e099682',0,'','',1);
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
COMMIT;
