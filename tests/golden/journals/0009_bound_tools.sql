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
INSERT INTO "agents" VALUES('01a1ef8d0d447b24b99afc267a37eb50',6,'2026-11-18 16:46:01.028689','2026-11-18 16:46:01.028689',0,NULL,'01a1ef8d0c887e958118a7558752e38b','helper',NULL,'[]');
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0009_bound_tools');
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
INSERT INTO "api_keys" VALUES('01a1ef8d0a217f7f8b16a6b5b5659517',1,'2026-11-18 16:46:00.224916','01a1ef8d0a1b7c8ab4b5e3a321f83de3','PEGBOARD_ADMIN_KEY','the-admi','4a926f4e9b4574181ccf97e68f1d57c3ea45a7338d224f150304f020afd0e98b',NULL,NULL,NULL);
INSERT INTO "api_keys" VALUES('01a1ef8d0cf172aca54d59469bae9f25',5,'2026-11-18 16:46:00.945159','01a1ef8d0c887e958118a7558752e38b','laptop','pb_QUsXn','e5bf9be3b857c668a851b9a0a40264447125db731b10aa87a26b9a657ca19d2b',NULL,NULL,NULL);
INSERT INTO "api_keys" VALUES('01a1ef8d0d9c78edb9a7ab62d444126d',7,'2026-11-18 16:46:01.116551','01a1ef8d0c887e958118a7558752e38b','robot','pb_uk1Qe','7f0ef4357b1fd6436e7a3e81d685c9cbdf7ef8e013d37b95d65b09daed9fd957','01a1ef8d0d447b24b99afc267a37eb50',NULL,NULL);
CREATE TABLE board_state (
	id INTEGER NOT NULL, 
	revision BIGINT NOT NULL, writers INTEGER DEFAULT '0' NOT NULL, writers_signature VARCHAR(32) DEFAULT '' NOT NULL, 
	CONSTRAINT pk_board_state PRIMARY KEY (id), 
	CONSTRAINT ck_board_state_single CHECK (id = 1)
);
INSERT INTO "board_state" VALUES(1,12,4,'ef922a96560d5d6563cd5668230b0c64');
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
INSERT INTO "execution_counts" VALUES(498616,'','','refused','tool_not_found',57,1);
INSERT INTO "execution_counts" VALUES(498616,'','','refused','tool_not_found',72,1);
INSERT INTO "execution_counts" VALUES(498616,'','dies','in_doubt','in_doubt',96,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',78,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',80,2);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',81,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',83,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',85,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',87,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',107,1);
INSERT INTO "execution_counts" VALUES(498616,'','echo','succeeded','',134,1);
INSERT INTO "execution_counts" VALUES(498616,'','fails','failed','execution_failed',122,1);
INSERT INTO "execution_counts" VALUES(498616,'','kept','refused','missing',93,1);
INSERT INTO "execution_counts" VALUES(498616,'','kept','succeeded','',100,1);
INSERT INTO "execution_counts" VALUES(498616,'','limited','refused','rate_limited',72,1);
INSERT INTO "execution_counts" VALUES(498616,'','limited','succeeded','',95,1);
INSERT INTO "execution_counts" VALUES(498616,'','math_eval','failed','execution_failed',97,1);
INSERT INTO "execution_counts" VALUES(498616,'','math_eval','succeeded','',96,1);
INSERT INTO "execution_counts" VALUES(498616,'','note','succeeded','',195,1);
INSERT INTO "execution_counts" VALUES(498616,'','once','refused','idempotency_conflict',139,1);
INSERT INTO "execution_counts" VALUES(498616,'','once','succeeded','',171,2);
INSERT INTO "execution_counts" VALUES(498616,'','print','succeeded','',247,1);
INSERT INTO "execution_counts" VALUES(498616,'','replaced','succeeded','',151,1);
INSERT INTO "execution_counts" VALUES(498616,'','tried','failed','contract_violation',152,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','','refused','tool_not_found',57,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','dies','in_doubt','in_doubt',96,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','echo','succeeded','',78,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','echo','succeeded','',80,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','echo','succeeded','',81,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','echo','succeeded','',83,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','echo','succeeded','',85,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','echo','succeeded','',107,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','echo','succeeded','',134,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','fails','failed','execution_failed',122,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','kept','refused','missing',93,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','kept','succeeded','',100,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','limited','refused','rate_limited',72,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','limited','succeeded','',95,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','math_eval','failed','execution_failed',97,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','math_eval','succeeded','',96,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','note','succeeded','',195,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','once','refused','idempotency_conflict',139,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','once','succeeded','',171,2);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','print','succeeded','',247,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','replaced','succeeded','',151,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','tried','failed','contract_violation',152,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-0c88-7e95-8118-a7558752e38b','','refused','tool_not_found',72,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-0c88-7e95-8118-a7558752e38b','echo','succeeded','',80,1);
INSERT INTO "execution_counts" VALUES(498616,'01a1ef8d-0c88-7e95-8118-a7558752e38b','echo','succeeded','',87,1);
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
INSERT INTO "executions" VALUES('01a1ef8d0ad07524b6b29e30c320ef2f','echo','succeeded','2026-11-18 16:46:00.400317','2026-11-18 16:46:00.400534',0.157,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef8d-0ad0-7524-b6b2-9e30c320ef2f',NULL,NULL,'92514aa9c4a47edb8577ab99ce2bf516',NULL,NULL,NULL,NULL,NULL,NULL,1,4,'27bcdb3350385d9b4635fa7dc0043de5',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8d0ad17742bffc3434c8ae7045','kept','succeeded','2026-11-18 16:46:00.401451','2026-11-18 16:46:00.401873',0.395,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','admin','library','plain',1,'01a1ef8d-0abb-7292-8074-5d02ba292b5f',1,'mock',NULL,NULL,'01a1ef8d-0ad1-7742-bffc-3434c8ae7045',NULL,NULL,'70a67cb28730a00759a36520d367ae33','{"text":"a ☃ and a 😀, \"quoted\", \\ and a\nline","number":-1.5e+300}',NULL,NULL,NULL,NULL,NULL,1,5,'91482395134f00c83424d53bec97d41b',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8d0ad372a9aae5df68022f2d65','fails','failed','2026-11-18 16:46:00.403164','2026-11-18 16:46:00.404656',1.467,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','admin','library','plain',1,'292d6f6c-a238-532d-ba7c-02469f556f4e',1,'internal',NULL,NULL,'01a1ef8d-0ad3-72a9-aae5-df68022f2d65','execution_failed','cannot do a ☃ and a 😀, "quoted", \ and a
line','92514aa9c4a47edb8577ab99ce2bf516',NULL,NULL,NULL,NULL,NULL,NULL,1,6,'e7cc92ba160917b445c76b49403b39e4',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8d0ad57a2faee3fd15598eb7cc','math_eval','failed','2026-11-18 16:46:00.405634','2026-11-18 16:46:00.405987',0.334,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','admin','library','plain',1,'4f56c6ab-4df0-5007-b192-54f29c273c7e',1,'builtin',NULL,NULL,'01a1ef8d-0ad5-7a2f-aee3-fd15598eb7cc','execution_failed','Division by zero at position 2; change the divisor','38e2b5a83021a55dd9583868375c2353',NULL,NULL,NULL,NULL,NULL,NULL,1,7,'4e92532c48d319cd567d625f581143c7',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8d0ad67989ae5e02fe20d5f732','kept','refused','2026-11-18 16:46:00.406593','2026-11-18 16:46:00.406877',0.264,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','admin','library','plain',0,'01a1ef8d-0abb-7292-8074-5d02ba292b5f',1,'mock',NULL,NULL,'01a1ef8d-0ad6-7989-ae5e-02fe20d5f732','missing','Invalid parameters: missing ''text''',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,8,'80baf2b9252dcc1aa0fe481e7f98f6d5',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8d0ad7770d9a6d05995ce43bd9','no_such_tool','refused','2026-11-18 16:46:00.407439','2026-11-18 16:46:00.407484',0.03,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','admin','library','plain',0,NULL,NULL,NULL,NULL,NULL,'01a1ef8d-0ad7-770d-9a6d-05995ce43bd9','tool_not_found','Tool ''no_such_tool'' not found',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,9,'308993999aadb5ab415f9efa9e2f5a70',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8d0adc71759e598a5153c0bd56','limited','succeeded','2026-11-18 16:46:00.412089','2026-11-18 16:46:00.412399',0.297,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','admin','library','plain',1,'01a1ef8d-0ac6-735a-9df9-0d8b6111b179',1,'mock',NULL,NULL,'01a1ef8d-0adc-7175-9e59-8a5153c0bd56',NULL,NULL,'03664d525b01ebc6ff377b7ad412b009',NULL,NULL,NULL,NULL,NULL,NULL,1,10,'738256a6b81a25546e81bb5ea0f256e4',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8d0ae07130824dbe27a301661a','limited','refused','2026-11-18 16:46:00.416072','2026-11-18 16:46:00.416159',0.073,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','admin','library','plain',0,'01a1ef8d-0ac6-735a-9df9-0d8b6111b179',1,'mock',NULL,NULL,'01a1ef8d-0ae0-7130-824d-be27a301661a','rate_limited','Rate limit of ''limited'' reached: 1 call per hour; try again in 3600 s','30367fb73d164a9b40884253f1c7edf3',NULL,NULL,NULL,NULL,NULL,NULL,1,11,'d2521f163f9e0f37f47bc2f5e57b7a51',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8d0de1771db2af006fb7321dea','echo','succeeded','2026-11-18 16:46:01.185439','2026-11-18 16:46:01.185653',0.182,'01a1ef8d-0c88-7e95-8118-a7558752e38b','ada','rest','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin','01a1ef8d-0cf1-72ac-a54d-59469bae9f25',NULL,'request-1',NULL,NULL,'d20d705321e39fa21b1ed8c0cda7a47b',NULL,NULL,NULL,NULL,NULL,NULL,1,12,'01ed0f59929dabc122fe7f2dbed9b5a5',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8d0e0d7006ae59f0cfe07d3bc8','echo','refused','2026-11-18 16:46:01.228994','2026-11-18 16:46:01.229097',0.071,'01a1ef8d-0c88-7e95-8118-a7558752e38b','ada','rest','plain',0,NULL,NULL,NULL,'01a1ef8d-0d9c-78ed-b9a7-ab62d444126d','01a1ef8d-0d44-7b24-b99a-fc267a37eb50','01a1ef8d-0e0d-7006-ae59-f0cfe07d3bc8','tool_not_found','Tool ''echo'' not found',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,13,'555438515b6047949a191a267bd26517',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8d0e237ab698b4bb81b739d269','echo','succeeded','2026-11-18 16:46:01.251665','2026-11-18 16:46:01.251814',0.118,'01a1ef8d-0c88-7e95-8118-a7558752e38b','ada','rest','openai_chat',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin','01a1ef8d-0cf1-72ac-a54d-59469bae9f25',NULL,'01a1ef8d-0e23-7467-a743-c4697d298a91',NULL,NULL,'699772f495a247b19bd652405a29b93e',NULL,NULL,NULL,NULL,NULL,NULL,1,14,'9b171513246f2d9f24e21517f8817240',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8d0e45731b9de5681aa068f591','once','succeeded','2026-11-18 16:46:01.285189','2026-11-18 16:46:01.313315',28.09,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','admin','library','plain',1,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1ef8d-0e45-731b-9de5-681aa068f591',NULL,NULL,'e613039a6c52256e95a1a2cc8bb579d5',NULL,NULL,NULL,NULL,NULL,'"A"',1,15,'dfe3a46636390d32a1664835c66d3b04',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8d0e62770fab32c997ff62b4a2','once','succeeded','2026-11-18 16:46:01.314436','2026-11-18 16:46:01.319336',28.09,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','admin','library','plain',0,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1ef8d-0e62-770f-ab32-c997ff62b4a2',NULL,NULL,'e613039a6c52256e95a1a2cc8bb579d5',NULL,NULL,NULL,NULL,'01a1ef8d-0e45-731b-9de5-681aa068f591','"A"',1,16,'17cb7b06dea94e40b842d34397a93a48',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8d0e68701d9082759d8aefbcce','once','refused','2026-11-18 16:46:01.320004','2026-11-18 16:46:01.324085',4.052,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','admin','library','plain',0,'27edc9a9-9bd3-513b-ba6b-91b4534eccf8',1,'internal',NULL,NULL,'01a1ef8d-0e68-701d-9082-759d8aefbcce','idempotency_conflict','This idempotency key was used for ''once'' with other arguments; send the same arguments again, or a new key for a new call','69a49e44b245523f3c9dc4d63625facb',NULL,NULL,NULL,NULL,NULL,NULL,1,17,'2137093d091bc5400edfc802b0c34d11',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8d0e93724d9b9ee62604bdaa4a','tried','failed','2026-11-18 16:46:01.363140','2026-11-18 16:46:01.372322',9.136,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','admin','library','plain',2,'47fe7a73-0ae4-5d70-aa28-58a231407683',1,'internal',NULL,NULL,'01a1ef8d-0e93-724d-9b9e-e62604bdaa4a','contract_violation','The tool''s output breaks its output schema: The output must be an integer','28f7beee853538810e4f50b8b2390418',NULL,NULL,NULL,NULL,NULL,NULL,1,18,'70d55705b4697b38361338e0056e03e2',NULL,'[{"attempt":1,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":0.611},{"attempt":2,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":2.465}]');
INSERT INTO "executions" VALUES('01a1ef8d0eac7285ae548db8af537dfc','replaced','succeeded','2026-11-18 16:46:01.388152','2026-11-18 16:46:01.396406',8.223,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','admin','library','plain',2,'0b58c42c-a575-56ea-8e61-45f3fdeaeca4',1,'internal',NULL,NULL,'01a1ef8d-0eac-7285-ae54-8db8af537dfc',NULL,NULL,'28f7beee853538810e4f50b8b2390418',NULL,NULL,NULL,NULL,NULL,NULL,1,19,'f8b140f944faa473ba4fcc200b25e06e',NULL,'[{"attempt":1,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":0.565},{"attempt":2,"code":"contract_violation","error":"The tool''s output breaks its output schema: The output must be an integer","elapsed_ms":5.017}]');
INSERT INTO "executions" VALUES('01a1ef8d0f6a74908c8a13fa2ccb45b9','note','succeeded','2026-11-18 16:46:01.578280','2026-11-18 16:46:01.692369',114.038,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','admin','library','plain',1,'01a1ef8d-0eb9-7db5-8a96-4faa0692c672',1,'table',NULL,NULL,'01a1ef8d-0f6a-7490-8c8a-13fa2ccb45b9',NULL,NULL,'a1c9addade73eca66d73736871014e7d',NULL,'1',NULL,NULL,NULL,NULL,1,20,'06e87e5f8e6549738bf246fd48219720',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8d10147402b158998e6d9734c7','print','succeeded','2026-11-18 16:46:01.748243','2026-11-18 16:46:04.393429',2645.11,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','admin','library','plain',1,'01a1ef8d-0f1c-7a21-a928-58c0f10cb8d4',1,'python',NULL,NULL,'01a1ef8d-1014-7402-b158-998e6d9734c7',NULL,NULL,'a6c84173bf22dd46a943707242b3cad2',NULL,NULL,NULL,NULL,NULL,NULL,1,21,'0475ca525e8b9660f67a9385363eb576','printed text
',NULL);
INSERT INTO "executions" VALUES('01a1ef8d1a717355ba51357ddd6e01b4','math_eval','succeeded','2026-11-18 16:46:04.401236','2026-11-18 16:46:04.401575',0.311,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','admin','library','plain',1,'4f56c6ab-4df0-5007-b192-54f29c273c7e',1,'builtin',NULL,NULL,'01a1ef8d-1a71-7355-ba51-357ddd6e01b4',NULL,NULL,'a61696e0746f91c36601af18d13adf78',NULL,NULL,'01a1ef8d-1a70-7fbf-b9f9-19f2ff9e1986',NULL,NULL,NULL,1,22,'220ae5947845eea56100d399f2a7db78',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8d1a88778f8b41e0fc750e7465','echo','succeeded','2026-11-18 16:46:04.424506','2026-11-18 16:46:04.424634',0.105,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef8d-1a88-778f-8b41-e0fc750e7465',NULL,NULL,'de20c7df54679be3afaf76e5261b506b',NULL,NULL,'01a1ef8d-1a70-7fbf-b9f9-19f2ff9e1986',NULL,NULL,NULL,1,23,'915224599bc87fd125c10fabd0b17e2e',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8d1acd77bf9fada40809d7f660','echo','succeeded','2026-11-18 16:46:04.493478','2026-11-18 16:46:04.493637',0.127,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef8d-1acd-77bf-9fad-a40809d7f660',NULL,NULL,'dcac1f97a7d7026467f66bdc6cdeab02',NULL,NULL,NULL,'01a1ef8d-1a94-75cd-8735-7b007d03114a',NULL,NULL,1,24,'a0b69cb2ebcf488a67f535a0d74e3abb',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8d4dcf7f458e84930115a95f81','dies','in_doubt','2026-11-18 16:46:17.551950','2026-11-18 16:46:17.685853',0.3,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','admin','library','plain',1,'301f3051-930d-5d5d-ae86-e078a5b82b33',1,'internal',NULL,NULL,'01a1ef8d-4dcf-7f45-8e84-930115a95f81','in_doubt','The server ended while this call was running; whether it took effect is not known','28f7beee853538810e4f50b8b2390418',NULL,NULL,NULL,NULL,NULL,NULL,3,1,'f640686274d5301d5f1a6bc6fbcb7385',NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8d68f476e490ec201efb58a1c3','echo','succeeded','2026-11-18 16:46:24.500424','2026-11-18 16:46:24.503480',3.009,'01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3','admin','cli','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef8d-68f4-76e4-90ec-201efb58a1c3',NULL,NULL,'57426f12bf11c2be474b82c701481d53',NULL,NULL,NULL,NULL,NULL,NULL,4,1,'ed90460dca2e8d8c4fa9b3a0f64faf12',NULL,NULL);
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
INSERT INTO "intents" VALUES('01a1ef8d0e45731b9de5681aa068f591',1,'done','',0,'895172a30a226d05cbec0cf8620dbdd4aec072130b7794a33f14da6407db8b8e','e613039a6c52256e95a1a2cc8bb579d5','pb1:b3457b1d:WaQuIAGy2x2DB0cL6b_lQiRvwlbIByoHz_PLCJNst19E1t3ltD6xHek2JOapQTi9zJPZnpcpI6Is7TBH-A6D5kYGg6rDdH3pPgOnNU7_9evJ2-WskDOS3h3azjBS-6pvxOlneu0eZnqKMyQOS1e_D3ycEc2b42LlxJ1Z2nNuZVG72lI5kI04','2026-11-19 16:46:01.285454');
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
INSERT INTO "messages" VALUES('01a1ef8d1a9475cd87357b007d03114a',0,'01a1ef8d1ad17e9faf8bfa7958e1c0b7','assistant',NULL,'2026-11-18 16:46:04.494896','[{"id":"call_01a1ef8d1acd77bf9fada40809d7f660","name":"echo","arguments":{"text":"thread"},"result":{"echo":{"text":"thread"}},"duration_ms":0.127,"attempts":1,"run_id":"01a1ef8d-1acd-77bf-9fad-a40809d7f660","result_valid":true}]','plain',NULL);
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
INSERT INTO "secrets" VALUES('01a1ef8d0a1e71e596ef6ec01f284d05',1,'2026-11-18 16:46:00.222116','2026-11-18 16:46:00.222116','01a1ef8d0a1b7c8ab4b5e3a321f83de3','$root','pb1:b3457b1d:8mORDwaXPC8SobDC-1Y4gGthmUp4UlbAUeCh_bl60RCyXLAvjo9qdKrGPUGpIW5P42la9i2FX0mKnDSJFTCw3V5_nznCTrvS');
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
INSERT INTO "threads" VALUES('01a1ef8d1a9475cd87357b007d03114a','01a1ef8d0a1b7c8ab4b5e3a321f83de3','golden',1,'2026-11-18 16:46:04.436357','2026-11-18 16:46:04.495067',NULL);
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
INSERT INTO "tool_versions" VALUES('01a1ef8d0a2875efaa1f8632402c3e68','4f56c6ab4df05007b19254f29c273c7e',1,'{"name": "math_eval", "tool_type": "builtin", "config": {"operation": "math_eval"}, "input_schema": {"type": "object", "properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "The expression to evaluate.", "examples": ["2+2", "(1 + 0.05)^10 * 1000", "sqrt(3^2 + 4^2)", "sin(radians(30))"]}}, "required": ["expression"], "examples": [{"expression": "(1 + 0.05)^10 * 1000"}]}, "description": "Evaluates one arithmetic expression and returns the number. Use it for any calculation beyond trivial mental arithmetic instead of working it out yourself. Operators: + - * / // (floor division) % (modulo, not percent) ^ or ** (power) and ! (factorial). Constants: pi, e, tau. Functions: sqrt, cbrt, abs, round, floor, ceil, trunc, sign, exp, log, ln, log2, log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, min, max, sum, mean, pow, mod, gcd, lcm, factorial, hypot, degrees, radians. Angles are in radians; log is natural unless written log(x, base). There are no variables, comparisons, lists or units, and numbers are written without thousands separators.", "output_schema": {"type": "object", "properties": {"result": {"type": "number", "description": "The value; whole numbers beyond 64 bits are rounded to a floating-point number."}}, "required": ["result"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Calculator", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:46:00.226910','01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3');
INSERT INTO "tool_versions" VALUES('01a1ef8d0a287660804ccf1aa208b3ef','6b6d2eda2c7950659ce66502d73cc282',1,'{"name": "echo", "tool_type": "builtin", "config": {"operation": "echo"}, "input_schema": {"type": "object", "additionalProperties": true, "examples": [{"message": "hello"}]}, "description": "Returns exactly the arguments it was called with, under `echo`. Use it to check that tool calls work and how your arguments arrive; it does nothing else.", "output_schema": {"type": "object", "properties": {"echo": {"type": "object", "description": "The arguments of the call."}}, "required": ["echo"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Echo", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:46:00.226910','01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3');
INSERT INTO "tool_versions" VALUES('01a1ef8d0a28768d986dbef7eacffcd5','85f568ed8cd35e11a508d3927f353e28',1,'{"name": "calculate_rsi", "tool_type": "builtin", "config": {"operation": "calculate_rsi"}, "input_schema": {"type": "object", "properties": {"prices": {"type": "array", "items": {"type": "number", "minimum": -1e+300, "maximum": 1e+300}, "minItems": 2, "maxItems": 100000, "description": "Closing prices, oldest first; at least period + 1.", "examples": [[44.34, 44.09, 44.15, 43.61, 44.33]]}, "period": {"type": "integer", "minimum": 1, "maximum": 99999, "default": 14, "description": "How many price changes are averaged; 14 is usual."}, "overbought": {"type": "number", "minimum": 0, "maximum": 100, "default": 70, "description": "The RSI from which on the answer''s `overbought` is true."}, "oversold": {"type": "number", "minimum": 0, "maximum": 100, "default": 30, "description": "The RSI down from which the answer''s `oversold` is true."}, "include_series": {"type": "boolean", "default": true, "description": "false leaves `series` out of the answer: shorter when only the last value matters."}}, "required": ["prices"], "examples": [{"prices": [44.34, 44.09, 44.15, 43.61, 44.33], "period": 3}]}, "description": "Calculates the relative strength index (RSI) of a series of prices, with Wilder''s smoothing, and says whether the last value is overbought or oversold. Give the closing prices oldest first, at least period + 1 of them; around 100 or more make the smoothing settle. It fetches no prices: you must have them already.", "output_schema": {"type": "object", "properties": {"rsi": {"type": "number", "minimum": 0, "maximum": 100, "description": "The RSI at the last price."}, "overbought": {"type": "boolean", "description": "Whether `rsi` is at or above the threshold."}, "oversold": {"type": "boolean", "description": "Whether `rsi` is at or below the threshold."}, "period": {"type": "integer", "description": "The period that was used."}, "series": {"type": "array", "items": {"type": ["number", "null"]}, "description": "The RSI at every price, as many as `prices`; null for the first `period` of them."}}, "required": ["rsi", "overbought", "oversold", "period"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Calculate RSI", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:46:00.226910','01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3');
INSERT INTO "tool_versions" VALUES('01a1ef8d0a2876ad81b01aab48172ce6','41a86778e8bd54c69de12c75630f7f9e',1,'{"name": "current_time", "tool_type": "builtin", "config": {"operation": "current_time"}, "input_schema": {"type": "object", "properties": {"timezone": {"type": "string", "maxLength": 64, "default": "UTC", "description": "An IANA time zone name.", "examples": ["UTC", "Europe/Berlin", "America/New_York"]}}, "examples": [{}, {"timezone": "Europe/Berlin"}]}, "description": "Returns the current date, time and weekday, in UTC or in the time zone you name. Call it whenever an answer depends on what day or time it is now; you cannot know that otherwise.", "output_schema": {"type": "object", "properties": {"iso": {"type": "string", "format": "date-time", "description": "ISO 8601, with the zone''s offset."}, "unix": {"type": "integer", "description": "Seconds since 1970-01-01T00:00:00Z."}, "timezone": {"type": "string", "description": "The time zone of `iso`, `date`, `time` and `weekday`."}, "abbreviation": {"type": ["string", "null"], "description": "What the zone is called now, such as CEST."}, "date": {"type": "string", "format": "date"}, "time": {"type": "string", "description": "HH:MM:SS, on a 24-hour clock."}, "weekday": {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]}}, "required": ["iso", "unix", "timezone", "date", "time", "weekday"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Current Time", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:46:00.226910','01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3');
INSERT INTO "tool_versions" VALUES('01a1ef8d0a2876cdb2f6452b9877af84','9e60bc7b2e6952c6bbf20b00e3006074',1,'{"name": "json_query", "tool_type": "builtin", "config": {"operation": "json_query"}, "input_schema": {"type": "object", "properties": {"data": {"description": "The JSON value to query: an object or array, not a string with JSON in it."}, "query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The JMESPath expression.", "examples": ["items[0].name", "items[?price > `10`].{name: name, price: price}", "sort_by(items, &price)[-1]", "length(items)"]}}, "required": ["data", "query"], "examples": [{"data": {"items": [{"name": "a", "price": 5}, {"name": "b", "price": 20}]}, "query": "items[?price > `10`]"}]}, "description": "Selects, filters, sorts and reshapes parts of a JSON value with a JMESPath query, and returns what it finds; null where nothing matches. Use it to get a few values out of a large JSON result without copying it by hand. Numbers in a query stand in backticks (`10`), strings in single quotes (''red''). It has no arithmetic.", "output_schema": {"type": "object", "properties": {"result": {"description": "What the query selects; null where nothing matches."}}, "required": ["result"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "JSON Query", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:46:00.226910','01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3');
INSERT INTO "tool_versions" VALUES('01a1ef8d0a2876ee83272d10e6b23244','492cf430bf41555ebdbdf302bf383784',1,'{"name": "query_baseline", "tool_type": "internal", "config": {"handler": "query_baseline"}, "input_schema": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "query_type": {"type": "string", "enum": ["baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["finding_id", "composite_hash", "query_type"], "additionalProperties": false}, "description": "Whether a finding is known: new, recurring or resolved, since when and how often it was seen. Changes nothing.", "output_schema": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Query baseline", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:46:00.226910','01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3');
INSERT INTO "tool_versions" VALUES('01a1ef8d0a28770c8926f25f70e5412a','3d387905ae305c2882a8c97f9e4aa8d1',1,'{"name": "batch_baseline_query", "tool_type": "internal", "config": {"handler": "batch_baseline_query"}, "input_schema": {"type": "object", "properties": {"finding_ids": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "maxItems": 10000, "description": "What you call the findings"}, "composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "Their hashes, one for each of finding_ids in the same order"}, "query_type": {"type": "string", "enum": ["batch_baseline_check", "baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the same answer"}, "batch_size": {"type": "integer", "minimum": 1, "maximum": 10000, "description": "How many are looked up in one statement; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["finding_ids", "composite_hashes", "query_type"], "additionalProperties": false}, "description": "Whether each of up to 10,000 findings is known, in the order asked. Changes nothing.", "output_schema": {"type": "object", "properties": {"results": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}}}, "required": ["results"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Query baseline for many", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": 33554432, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:46:00.226910','01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3');
INSERT INTO "tool_versions" VALUES('01a1ef8d0a28772b9f52fec7b9643596','86374af31257591dbc5f4666a9fd2d72',1,'{"name": "record_findings", "tool_type": "internal", "config": {"handler": "record_findings"}, "input_schema": {"type": "object", "properties": {"findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["finding_id", "composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "What was seen"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["findings"], "additionalProperties": false}, "description": "Keep that findings were seen, each time it is called once more; a resolved one that is seen again recurs.", "output_schema": {"type": "object", "properties": {"recorded": {"type": "integer", "minimum": 0}, "new": {"type": "integer", "minimum": 0}, "recurring": {"type": "integer", "minimum": 0}, "reopened": {"type": "integer", "minimum": 0}}, "required": ["recorded", "new", "recurring", "reopened"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Record findings", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:46:00.226910','01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3');
INSERT INTO "tool_versions" VALUES('01a1ef8d0a28774cacc9a8f942a68c22','42944903dad95a33ae7df27da4aa4324',1,'{"name": "resolve_findings", "tool_type": "internal", "config": {"handler": "resolve_findings"}, "input_schema": {"type": "object", "properties": {"composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "The hashes of the findings"}, "findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "The findings"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": [], "additionalProperties": false}, "description": "Mark findings resolved, until they are seen again; give composite_hashes or findings.", "output_schema": {"type": "object", "properties": {"resolved": {"type": "integer", "minimum": 0}, "already_resolved": {"type": "integer", "minimum": 0}, "unknown": {"type": "integer", "minimum": 0}}, "required": ["resolved", "already_resolved", "unknown"], "additionalProperties": false}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Resolve findings", "tags": ["baseline"], "timeout": null, "unknown_parameters": "ignore", "result_style": "envelope", "retry": null, "fallback": null, "idempotent": true, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:46:00.226910','01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3');
INSERT INTO "tool_versions" VALUES('01a1ef8d0ac07afa9f8e47cde05e3731','01a1ef8d0abb729280745d02ba292b5f',1,'{"name": "kept", "tool_type": "mock", "config": {"mock_response": {"sky": "clear"}}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden kept", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": true, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:46:00.379156','01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3');
INSERT INTO "tool_versions" VALUES('01a1ef8d0ac97d308d1f3fd1e7a65206','01a1ef8d0ac6735a9df90d8b6111b179',1,'{"name": "limited", "tool_type": "mock", "config": {"mock_response": 1}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden limited", "output_schema": null, "rate_limit": {"max_calls": 1, "period": "hour", "burst": null, "scope": "caller"}, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:46:00.390204','01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3');
INSERT INTO "tool_versions" VALUES('01a1ef8d0ee47c91be279de5b3d68884','01a1ef8d0eb97db58a964faa0692c672',1,'{"name": "note", "tool_type": "table", "config": {"tableName": "notes", "fields": [{"name": "text", "dataType": "text"}]}, "input_schema": {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"text": {"type": ["string", "null"]}}, "required": [], "additionalProperties": false}, "description": "Golden note", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "reject", "result_style": "detailed", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:46:01.401852','01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3');
INSERT INTO "tool_versions" VALUES('01a1ef8d0f4c7c3eb323afa480c32abb','01a1ef8d0f1c7a21a92858c0f10cb8d4',1,'{"name": "print", "tool_type": "python", "config": {"code": "def show(text: str) -> str:\n    print(''printed'', text)\n    return text\n"}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden print", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "keep_result": false, "max_result_bytes": null, "drifted": false, "display": null, "on_disconnect": "cancel", "bound_tools": null, "sealed_auth": null}','2026-11-18 16:46:01.500626','01a1ef8d-0a1b-7c8a-b4b5-e3a321f83de3');
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
INSERT INTO "tools" VALUES('4f56c6ab4df05007b19254f29c273c7e',1,'2026-11-18 16:46:00.226910','2026-11-18 16:46:00.226910',0,NULL,'01a1ef8d0a1b7c8ab4b5e3a321f83de3','math_eval','Evaluates one arithmetic expression and returns the number. Use it for any calculation beyond trivial mental arithmetic instead of working it out yourself. Operators: + - * / // (floor division) % (modulo, not percent) ^ or ** (power) and ! (factorial). Constants: pi, e, tau. Functions: sqrt, cbrt, abs, round, floor, ceil, trunc, sign, exp, log, ln, log2, log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, min, max, sum, mean, pow, mod, gcd, lcm, factorial, hypot, degrees, radians. Angles are in radians; log is natural unless written log(x, base). There are no variables, comparisons, lists or units, and numbers are written without thousands separators.','builtin','{"operation": "math_eval"}','{"type": "object", "properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "The expression to evaluate.", "examples": ["2+2", "(1 + 0.05)^10 * 1000", "sqrt(3^2 + 4^2)", "sin(radians(30))"]}}, "required": ["expression"], "examples": [{"expression": "(1 + 0.05)^10 * 1000"}]}','{"type": "object", "properties": {"result": {"type": "number", "description": "The value; whole numbers beyond 64 bits are rounded to a floating-point number."}}, "required": ["result"]}',NULL,NULL,1,1,1,'Calculator','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('6b6d2eda2c7950659ce66502d73cc282',1,'2026-11-18 16:46:00.226910','2026-11-18 16:46:00.226910',0,NULL,'01a1ef8d0a1b7c8ab4b5e3a321f83de3','echo','Returns exactly the arguments it was called with, under `echo`. Use it to check that tool calls work and how your arguments arrive; it does nothing else.','builtin','{"operation": "echo"}','{"type": "object", "additionalProperties": true, "examples": [{"message": "hello"}]}','{"type": "object", "properties": {"echo": {"type": "object", "description": "The arguments of the call."}}, "required": ["echo"]}',NULL,NULL,1,1,1,'Echo','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('85f568ed8cd35e11a508d3927f353e28',1,'2026-11-18 16:46:00.226910','2026-11-18 16:46:00.226910',0,NULL,'01a1ef8d0a1b7c8ab4b5e3a321f83de3','calculate_rsi','Calculates the relative strength index (RSI) of a series of prices, with Wilder''s smoothing, and says whether the last value is overbought or oversold. Give the closing prices oldest first, at least period + 1 of them; around 100 or more make the smoothing settle. It fetches no prices: you must have them already.','builtin','{"operation": "calculate_rsi"}','{"type": "object", "properties": {"prices": {"type": "array", "items": {"type": "number", "minimum": -1e+300, "maximum": 1e+300}, "minItems": 2, "maxItems": 100000, "description": "Closing prices, oldest first; at least period + 1.", "examples": [[44.34, 44.09, 44.15, 43.61, 44.33]]}, "period": {"type": "integer", "minimum": 1, "maximum": 99999, "default": 14, "description": "How many price changes are averaged; 14 is usual."}, "overbought": {"type": "number", "minimum": 0, "maximum": 100, "default": 70, "description": "The RSI from which on the answer''s `overbought` is true."}, "oversold": {"type": "number", "minimum": 0, "maximum": 100, "default": 30, "description": "The RSI down from which the answer''s `oversold` is true."}, "include_series": {"type": "boolean", "default": true, "description": "false leaves `series` out of the answer: shorter when only the last value matters."}}, "required": ["prices"], "examples": [{"prices": [44.34, 44.09, 44.15, 43.61, 44.33], "period": 3}]}','{"type": "object", "properties": {"rsi": {"type": "number", "minimum": 0, "maximum": 100, "description": "The RSI at the last price."}, "overbought": {"type": "boolean", "description": "Whether `rsi` is at or above the threshold."}, "oversold": {"type": "boolean", "description": "Whether `rsi` is at or below the threshold."}, "period": {"type": "integer", "description": "The period that was used."}, "series": {"type": "array", "items": {"type": ["number", "null"]}, "description": "The RSI at every price, as many as `prices`; null for the first `period` of them."}}, "required": ["rsi", "overbought", "oversold", "period"]}',NULL,NULL,1,1,1,'Calculate RSI','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('41a86778e8bd54c69de12c75630f7f9e',1,'2026-11-18 16:46:00.226910','2026-11-18 16:46:00.226910',0,NULL,'01a1ef8d0a1b7c8ab4b5e3a321f83de3','current_time','Returns the current date, time and weekday, in UTC or in the time zone you name. Call it whenever an answer depends on what day or time it is now; you cannot know that otherwise.','builtin','{"operation": "current_time"}','{"type": "object", "properties": {"timezone": {"type": "string", "maxLength": 64, "default": "UTC", "description": "An IANA time zone name.", "examples": ["UTC", "Europe/Berlin", "America/New_York"]}}, "examples": [{}, {"timezone": "Europe/Berlin"}]}','{"type": "object", "properties": {"iso": {"type": "string", "format": "date-time", "description": "ISO 8601, with the zone''s offset."}, "unix": {"type": "integer", "description": "Seconds since 1970-01-01T00:00:00Z."}, "timezone": {"type": "string", "description": "The time zone of `iso`, `date`, `time` and `weekday`."}, "abbreviation": {"type": ["string", "null"], "description": "What the zone is called now, such as CEST."}, "date": {"type": "string", "format": "date"}, "time": {"type": "string", "description": "HH:MM:SS, on a 24-hour clock."}, "weekday": {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]}}, "required": ["iso", "unix", "timezone", "date", "time", "weekday"]}',NULL,NULL,1,1,1,'Current Time','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('9e60bc7b2e6952c6bbf20b00e3006074',1,'2026-11-18 16:46:00.226910','2026-11-18 16:46:00.226910',0,NULL,'01a1ef8d0a1b7c8ab4b5e3a321f83de3','json_query','Selects, filters, sorts and reshapes parts of a JSON value with a JMESPath query, and returns what it finds; null where nothing matches. Use it to get a few values out of a large JSON result without copying it by hand. Numbers in a query stand in backticks (`10`), strings in single quotes (''red''). It has no arithmetic.','builtin','{"operation": "json_query"}','{"type": "object", "properties": {"data": {"description": "The JSON value to query: an object or array, not a string with JSON in it."}, "query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The JMESPath expression.", "examples": ["items[0].name", "items[?price > `10`].{name: name, price: price}", "sort_by(items, &price)[-1]", "length(items)"]}}, "required": ["data", "query"], "examples": [{"data": {"items": [{"name": "a", "price": 5}, {"name": "b", "price": 20}]}, "query": "items[?price > `10`]"}]}','{"type": "object", "properties": {"result": {"description": "What the query selects; null where nothing matches."}}, "required": ["result"]}',NULL,NULL,1,1,1,'JSON Query','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('492cf430bf41555ebdbdf302bf383784',1,'2026-11-18 16:46:00.226910','2026-11-18 16:46:00.226910',0,NULL,'01a1ef8d0a1b7c8ab4b5e3a321f83de3','query_baseline','Whether a finding is known: new, recurring or resolved, since when and how often it was seen. Changes nothing.','internal','{"handler": "query_baseline"}','{"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "query_type": {"type": "string", "enum": ["baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["finding_id", "composite_hash", "query_type"], "additionalProperties": false}','{"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}',NULL,NULL,1,1,1,'Query baseline','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,1,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('3d387905ae305c2882a8c97f9e4aa8d1',1,'2026-11-18 16:46:00.226910','2026-11-18 16:46:00.226910',0,NULL,'01a1ef8d0a1b7c8ab4b5e3a321f83de3','batch_baseline_query','Whether each of up to 10,000 findings is known, in the order asked. Changes nothing.','internal','{"handler": "batch_baseline_query"}','{"type": "object", "properties": {"finding_ids": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "maxItems": 10000, "description": "What you call the findings"}, "composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "Their hashes, one for each of finding_ids in the same order"}, "query_type": {"type": "string", "enum": ["batch_baseline_check", "baseline_check", "first_seen", "frequency_count"], "description": "What you want to know; the same answer"}, "batch_size": {"type": "integer", "minimum": 1, "maximum": 10000, "description": "How many are looked up in one statement; the answer is the same"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["finding_ids", "composite_hashes", "query_type"], "additionalProperties": false}','{"type": "object", "properties": {"results": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string"}, "composite_hash": {"type": "string"}, "first_seen_ts": {"type": ["string", "null"], "format": "date-time"}, "seen_count": {"type": "integer", "minimum": 0}, "baseline_status": {"type": "string", "enum": ["new", "recurring", "resolved"]}, "confidence_score": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["finding_id", "composite_hash", "first_seen_ts", "seen_count", "baseline_status", "confidence_score"], "additionalProperties": false}}}, "required": ["results"], "additionalProperties": false}',NULL,NULL,1,1,1,'Query baseline for many','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,1,0,0,33554432,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('86374af31257591dbc5f4666a9fd2d72',1,'2026-11-18 16:46:00.226910','2026-11-18 16:46:00.226910',0,NULL,'01a1ef8d0a1b7c8ab4b5e3a321f83de3','record_findings','Keep that findings were seen, each time it is called once more; a resolved one that is seen again recurs.','internal','{"handler": "record_findings"}','{"type": "object", "properties": {"findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["finding_id", "composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "What was seen"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": ["findings"], "additionalProperties": false}','{"type": "object", "properties": {"recorded": {"type": "integer", "minimum": 0}, "new": {"type": "integer", "minimum": 0}, "recurring": {"type": "integer", "minimum": 0}, "reopened": {"type": "integer", "minimum": 0}}, "required": ["recorded", "new", "recurring", "reopened"], "additionalProperties": false}',NULL,NULL,1,1,1,'Record findings','["baseline"]',NULL,'ignore','envelope',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('42944903dad95a33ae7df27da4aa4324',1,'2026-11-18 16:46:00.226910','2026-11-18 16:46:00.226910',0,NULL,'01a1ef8d0a1b7c8ab4b5e3a321f83de3','resolve_findings','Mark findings resolved, until they are seen again; give composite_hashes or findings.','internal','{"handler": "resolve_findings"}','{"type": "object", "properties": {"composite_hashes": {"type": "array", "items": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "maxItems": 10000, "description": "The hashes of the findings"}, "findings": {"type": "array", "items": {"type": "object", "properties": {"finding_id": {"type": "string", "minLength": 1, "maxLength": 255, "description": "What you call the finding"}, "composite_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "SHA-256 of the finding''s content, 64 hexadecimal characters"}, "seen_at": {"type": "string", "description": "When it was seen, ISO 8601 with a zone; now if absent"}}, "required": ["composite_hash"], "additionalProperties": false}, "maxItems": 10000, "description": "The findings"}, "additional_params": {"type": "object", "properties": {"scope": {"type": "string", "enum": ["own", "shared"], "description": "Your own baseline, which is meant if absent, or all''s"}}, "additionalProperties": false, "description": "Which baseline is meant"}}, "required": [], "additionalProperties": false}','{"type": "object", "properties": {"resolved": {"type": "integer", "minimum": 0}, "already_resolved": {"type": "integer", "minimum": 0}, "unknown": {"type": "integer", "minimum": 0}}, "required": ["resolved", "already_resolved", "unknown"], "additionalProperties": false}',NULL,NULL,1,1,1,'Resolve findings','["baseline"]',NULL,'ignore','envelope',NULL,NULL,1,0,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('01a1ef8d0abb729280745d02ba292b5f',2,'2026-11-18 16:46:00.379156','2026-11-18 16:46:00.379156',0,NULL,'01a1ef8d0a1b7c8ab4b5e3a321f83de3','kept','Golden kept','mock','{"mock_response": {"sky": "clear"}}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,1,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('01a1ef8d0ac6735a9df90d8b6111b179',3,'2026-11-18 16:46:00.390204','2026-11-18 16:46:00.390204',0,NULL,'01a1ef8d0a1b7c8ab4b5e3a321f83de3','limited','Golden limited','mock','{"mock_response": 1}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,'{"max_calls": 1, "period": "hour", "burst": null, "scope": "caller"}',1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('01a1ef8d0eb97db58a964faa0692c672',8,'2026-11-18 16:46:01.401852','2026-11-18 16:46:01.401852',0,NULL,'01a1ef8d0a1b7c8ab4b5e3a321f83de3','note','Golden note','table','{"tableName": "notes", "fields": [{"name": "text", "dataType": "text"}]}','{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"text": {"type": ["string", "null"]}}, "required": [], "additionalProperties": false}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'reject','detailed',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel',NULL);
INSERT INTO "tools" VALUES('01a1ef8d0f1c7a21a92858c0f10cb8d4',9,'2026-11-18 16:46:01.500626','2026-11-18 16:46:01.500626',0,NULL,'01a1ef8d0a1b7c8ab4b5e3a321f83de3','print','Golden print','python','{"code": "def show(text: str) -> str:\n    print(''printed'', text)\n    return text\n"}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,0,NULL,0,0,NULL,'cancel',NULL);
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
INSERT INTO "users" VALUES('01a1ef8d0a1b7c8ab4b5e3a321f83de3',1,'2026-11-18 16:46:00.219777','2026-11-18 16:46:00.219777',0,NULL,'admin','admin');
INSERT INTO "users" VALUES('01a1ef8d0c887e958118a7558752e38b',4,'2026-11-18 16:46:00.840904','2026-11-18 16:46:00.840904',0,NULL,'ada','member');
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
INSERT INTO "writers" VALUES(1,'01a1ef8d0a327152a71e71a89df71a19','vm',16331,'2026-11-18 16:46:00.267225','2026-11-18 16:46:17.705315',34,24,'a0b69cb2ebcf488a67f535a0d74e3abb','003188159f5974fc6291908b5ca64fb6',3,'199b046181a9915cbb1fc2eac69d9efe','96849bc15e1d31330350dde937d76dbf',24);
INSERT INTO "writers" VALUES(2,'01a1ef8d4db2761f92f27d6625f3b970','vm',17764,'2026-11-18 16:46:17.553830','2026-11-18 16:46:17.685574',1,0,'','b8ec113e903a5c971468938324197d60',0,'','',0);
INSERT INTO "writers" VALUES(3,'01a1ef8d4e497b2b904f4edde9699028','vm',16331,'2026-11-18 16:46:17.685926','2026-11-18 16:46:17.697162',2,1,'f640686274d5301d5f1a6bc6fbcb7385','053e5808ebc5da80c031ab4dd7a3e18b',0,'','',1);
INSERT INTO "writers" VALUES(4,'01a1ef8d68aa791aa249d5c66d4a4f49','vm',18960,'2026-11-18 16:46:24.512311','2026-11-18 16:46:24.531052',2,1,'ed90460dca2e8d8c4fa9b3a0f64faf12','bfa25b6a570668642ee52de0ed8589ce',0,'','',1);
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
