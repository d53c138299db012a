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
INSERT INTO "agents" VALUES('01a1ef87202c7c12b086cd5bcdcfcc41',6,'2026-11-18 16:39:32.652746','2026-11-18 16:39:32.652746',0,NULL,'01a1ef871fd7788ca5801e4ace3f9d7d','helper',NULL,'[]');
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0002_executions');
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
INSERT INTO "api_keys" VALUES('01a1ef871c757a8199d3f85958096dc3',1,'2026-11-18 16:39:31.699852','01a1ef871c4a7665bcf7a385bdbcd611','PEGBOARD_ADMIN_KEY','the-admi','4a926f4e9b4574181ccf97e68f1d57c3ea45a7338d224f150304f020afd0e98b',NULL,NULL,NULL);
INSERT INTO "api_keys" VALUES('01a1ef871ffb75b4aaff2216722193f3',5,'2026-11-18 16:39:32.603349','01a1ef871fd7788ca5801e4ace3f9d7d','laptop','pb_txwWz','bc2a993df6591c9cac325cd07f8aaeb544ec9b4e6958ccfc4c519ebd5a6f87c9',NULL,NULL,NULL);
INSERT INTO "api_keys" VALUES('01a1ef87207e7830948c7edf4f7e7ad5',7,'2026-11-18 16:39:32.734502','01a1ef871fd7788ca5801e4ace3f9d7d','robot','pb_dQf5N','6d663bd1b944daeec8c564b002948502d5abaaabda1719c7efc58d7687d1ba5e','01a1ef87202c7c12b086cd5bcdcfcc41',NULL,NULL);
CREATE TABLE board_state (
	id INTEGER NOT NULL, 
	revision BIGINT NOT NULL, 
	CONSTRAINT pk_board_state PRIMARY KEY (id), 
	CONSTRAINT ck_board_state_single CHECK (id = 1)
);
INSERT INTO "board_state" VALUES(1,8);
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
	thread_id TEXT, 
	CONSTRAINT pk_executions PRIMARY KEY (id)
);
INSERT INTO "executions" VALUES('01a1ef871d687580a0292ce1d9a31b53','echo','succeeded','2026-11-18 16:39:31.944337','2026-11-18 16:39:31.944852',0.467,'01a1ef87-1c4a-7665-bcf7-a385bdbcd611','admin','library','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef87-1d68-7580-a029-2ce1d9a31b53',NULL,NULL,'ae1684d3c71d8592c3f5677c336b1e0a',NULL,NULL,NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef871d7173dda26e24ecb7bc8654','kept','succeeded','2026-11-18 16:39:31.953235','2026-11-18 16:39:31.953783',0.511,'01a1ef87-1c4a-7665-bcf7-a385bdbcd611','admin','library','plain',1,'01a1ef87-1d1e-7071-b334-e19ce447748e',1,'mock',NULL,NULL,'01a1ef87-1d71-73dd-a26e-24ecb7bc8654',NULL,NULL,'e3063a30a880f0ba7ce5ce11080333ac','{"text": "a \u2603 and a \ud83d\ude00, \"quoted\", \\ and a\nline", "number": -1.5e+300}',NULL,NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef871d7c744e872f428ac65371a8','fails','failed','2026-11-18 16:39:31.964261','2026-11-18 16:39:31.968286',3.981,'01a1ef87-1c4a-7665-bcf7-a385bdbcd611','admin','library','plain',1,'01a1ef87-1d61-71ae-a602-e7eb90c9af14',1,'internal',NULL,NULL,'01a1ef87-1d7c-744e-872f-428ac65371a8','execution_failed','cannot do a ☃ and a 😀, "quoted", \ and a
line','ae1684d3c71d8592c3f5677c336b1e0a',NULL,NULL,NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef871d857da7848efb3fb64cf8e3','math_eval','failed','2026-11-18 16:39:31.973848','2026-11-18 16:39:31.974330',0.448,'01a1ef87-1c4a-7665-bcf7-a385bdbcd611','admin','library','plain',1,'4f56c6ab-4df0-5007-b192-54f29c273c7e',1,'builtin',NULL,NULL,'01a1ef87-1d85-7da7-848e-fb3fb64cf8e3','execution_failed','Division by zero at position 2; change the divisor','2e558237fa05960c1dc9c12cb17b38c4',NULL,NULL,NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef871d9471a7ada9f9bb079f858e','kept','refused','2026-11-18 16:39:31.988096','2026-11-18 16:39:31.988594',0.456,'01a1ef87-1c4a-7665-bcf7-a385bdbcd611','admin','library','plain',0,'01a1ef87-1d1e-7071-b334-e19ce447748e',1,'mock',NULL,NULL,'01a1ef87-1d94-71a7-ada9-f9bb079f858e','missing','Invalid parameters: missing ''text''',NULL,NULL,NULL,NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef871d9c74a59394e8a531dd14f0','no_such_tool','refused','2026-11-18 16:39:31.996285','2026-11-18 16:39:31.996704',0.383,'01a1ef87-1c4a-7665-bcf7-a385bdbcd611','admin','library','plain',0,NULL,NULL,NULL,NULL,NULL,'01a1ef87-1d9c-74a5-9394-e8a531dd14f0','tool_not_found','Tool ''no_such_tool'' not found',NULL,NULL,NULL,NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef871da8769496082d4d08d872a7','limited','succeeded','2026-11-18 16:39:32.008404','2026-11-18 16:39:32.008986',0.553,'01a1ef87-1c4a-7665-bcf7-a385bdbcd611','admin','library','plain',1,'01a1ef87-1d42-7c24-8b06-a94d506bd9ad',1,'mock',NULL,NULL,'01a1ef87-1da8-7694-9608-2d4d08d872a7',NULL,NULL,'d0b82fce776f2ec6e78e0f3620fad191',NULL,NULL,NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef871db4759d81ff46a433803a9a','limited','refused','2026-11-18 16:39:32.020344','2026-11-18 16:39:32.020565',0.185,'01a1ef87-1c4a-7665-bcf7-a385bdbcd611','admin','library','plain',0,'01a1ef87-1d42-7c24-8b06-a94d506bd9ad',1,'mock',NULL,NULL,'01a1ef87-1db4-759d-81ff-46a433803a9a','rate_limited','Rate limit of ''limited'' reached: 1 call per hour; try again in 3600 s','2f3e5148a0fe91b0e6ccbaf1718b6e3f',NULL,NULL,NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8720a272eda288a1dd5fd51520','echo','succeeded','2026-11-18 16:39:32.770177','2026-11-18 16:39:32.770362',0.151,'01a1ef87-1fd7-788c-a580-1e4ace3f9d7d','ada','rest','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin','01a1ef87-1ffb-75b4-aaff-2216722193f3',NULL,'request-1',NULL,NULL,'fe5fa06316f9d9e7c63635a1e7260082',NULL,NULL,NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8720b072f2a1efe9fc643fe3cc','echo','refused','2026-11-18 16:39:32.784179','2026-11-18 16:39:32.784263',0.059,'01a1ef87-1fd7-788c-a580-1e4ace3f9d7d','ada','rest','plain',0,NULL,NULL,NULL,'01a1ef87-207e-7830-948c-7edf4f7e7ad5','01a1ef87-202c-7c12-b086-cd5bcdcfcc41','01a1ef87-20b0-72f2-a1ef-e9fc643fe3cc','tool_not_found','Tool ''echo'' not found',NULL,NULL,NULL,NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8720b875009256858c248e3aad','echo','succeeded','2026-11-18 16:39:32.792307','2026-11-18 16:39:32.792444',0.111,'01a1ef87-1fd7-788c-a580-1e4ace3f9d7d','ada','rest','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin','01a1ef87-1ffb-75b4-aaff-2216722193f3',NULL,'01a1ef87-20b6-73da-88ee-37e7e47f7616',NULL,NULL,'339b23332d2d8c41202835ee888269cd',NULL,NULL,NULL,NULL);
INSERT INTO "executions" VALUES('01a1ef8734e1764c8de31021109e410f','echo','succeeded','2026-11-18 16:39:37.953385','2026-11-18 16:39:37.956151',2.712,'01a1ef87-1c4a-7665-bcf7-a385bdbcd611','admin','cli','plain',1,'6b6d2eda-2c79-5065-9ce6-6502d73cc282',1,'builtin',NULL,NULL,'01a1ef87-34e1-764c-8de3-1021109e410f',NULL,NULL,'52f22b87cf8736c60eba9fe8f9eb0009',NULL,NULL,NULL,NULL);
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
INSERT INTO "secrets" VALUES('01a1ef871c5976d8873d72497f04e82d',1,'2026-11-18 16:39:31.673420','2026-11-18 16:39:31.673420','01a1ef871c4a7665bcf7a385bdbcd611','$root','pb1:b3457b1d:onYA7UV4V7cOeFHxD4CtELprZ1XqCCk6U3tBHZwDtPxNLMGqMcDA9UNXtTGclTfez3y0FFKqhqKpqOfBX4-G7WfGztZDUqKq');
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
INSERT INTO "tool_versions" VALUES('01a1ef871c987fc5ad8b0e88e42fe83e','4f56c6ab4df05007b19254f29c273c7e',1,'{"name": "math_eval", "tool_type": "builtin", "config": {"operation": "math_eval"}, "input_schema": {"type": "object", "properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "The expression to evaluate.", "examples": ["2+2", "(1 + 0.05)^10 * 1000", "sqrt(3^2 + 4^2)", "sin(radians(30))"]}}, "required": ["expression"], "examples": [{"expression": "(1 + 0.05)^10 * 1000"}]}, "description": "Evaluates one arithmetic expression and returns the number. Use it for any calculation beyond trivial mental arithmetic instead of working it out yourself. Operators: + - * / // (floor division) % (modulo, not percent) ^ or ** (power) and ! (factorial). Constants: pi, e, tau. Functions: sqrt, cbrt, abs, round, floor, ceil, trunc, sign, exp, log, ln, log2, log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, min, max, sum, mean, pow, mod, gcd, lcm, factorial, hypot, degrees, radians. Angles are in radians; log is natural unless written log(x, base). There are no variables, comparisons, lists or units, and numbers are written without thousands separators.", "output_schema": {"type": "object", "properties": {"result": {"type": "number", "description": "The value; whole numbers beyond 64 bits are rounded to a floating-point number."}}, "required": ["result"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Calculator", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "max_result_bytes": null, "drifted": false, "sealed_auth": null}','2026-11-18 16:39:31.707694','01a1ef87-1c4a-7665-bcf7-a385bdbcd611');
INSERT INTO "tool_versions" VALUES('01a1ef871ca47297be19ea778fbc8716','6b6d2eda2c7950659ce66502d73cc282',1,'{"name": "echo", "tool_type": "builtin", "config": {"operation": "echo"}, "input_schema": {"type": "object", "additionalProperties": true, "examples": [{"message": "hello"}]}, "description": "Returns exactly the arguments it was called with, under `echo`. Use it to check that tool calls work and how your arguments arrive; it does nothing else.", "output_schema": {"type": "object", "properties": {"echo": {"type": "object", "description": "The arguments of the call."}}, "required": ["echo"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Echo", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "max_result_bytes": null, "drifted": false, "sealed_auth": null}','2026-11-18 16:39:31.740385','01a1ef87-1c4a-7665-bcf7-a385bdbcd611');
INSERT INTO "tool_versions" VALUES('01a1ef871cad75878a74f88689ed0dfc','85f568ed8cd35e11a508d3927f353e28',1,'{"name": "calculate_rsi", "tool_type": "builtin", "config": {"operation": "calculate_rsi"}, "input_schema": {"type": "object", "properties": {"prices": {"type": "array", "items": {"type": "number", "minimum": -1e+300, "maximum": 1e+300}, "minItems": 2, "maxItems": 100000, "description": "Closing prices, oldest first; at least period + 1.", "examples": [[44.34, 44.09, 44.15, 43.61, 44.33]]}, "period": {"type": "integer", "minimum": 1, "maximum": 99999, "default": 14, "description": "How many price changes are averaged; 14 is usual."}, "overbought": {"type": "number", "minimum": 0, "maximum": 100, "default": 70, "description": "The RSI from which on the answer''s `overbought` is true."}, "oversold": {"type": "number", "minimum": 0, "maximum": 100, "default": 30, "description": "The RSI down from which the answer''s `oversold` is true."}, "include_series": {"type": "boolean", "default": true, "description": "false leaves `series` out of the answer: shorter when only the last value matters."}}, "required": ["prices"], "examples": [{"prices": [44.34, 44.09, 44.15, 43.61, 44.33], "period": 3}]}, "description": "Calculates the relative strength index (RSI) of a series of prices, with Wilder''s smoothing, and says whether the last value is overbought or oversold. Give the closing prices oldest first, at least period + 1 of them; around 100 or more make the smoothing settle. It fetches no prices: you must have them already.", "output_schema": {"type": "object", "properties": {"rsi": {"type": "number", "minimum": 0, "maximum": 100, "description": "The RSI at the last price."}, "overbought": {"type": "boolean", "description": "Whether `rsi` is at or above the threshold."}, "oversold": {"type": "boolean", "description": "Whether `rsi` is at or below the threshold."}, "period": {"type": "integer", "description": "The period that was used."}, "series": {"type": "array", "items": {"type": ["number", "null"]}, "description": "The RSI at every price, as many as `prices`; null for the first `period` of them."}}, "required": ["rsi", "overbought", "oversold", "period"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Calculate RSI", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "max_result_bytes": null, "drifted": false, "sealed_auth": null}','2026-11-18 16:39:31.752258','01a1ef87-1c4a-7665-bcf7-a385bdbcd611');
INSERT INTO "tool_versions" VALUES('01a1ef871cbc708a91d4abb3b14a298b','41a86778e8bd54c69de12c75630f7f9e',1,'{"name": "current_time", "tool_type": "builtin", "config": {"operation": "current_time"}, "input_schema": {"type": "object", "properties": {"timezone": {"type": "string", "maxLength": 64, "default": "UTC", "description": "An IANA time zone name.", "examples": ["UTC", "Europe/Berlin", "America/New_York"]}}, "examples": [{}, {"timezone": "Europe/Berlin"}]}, "description": "Returns the current date, time and weekday, in UTC or in the time zone you name. Call it whenever an answer depends on what day or time it is now; you cannot know that otherwise.", "output_schema": {"type": "object", "properties": {"iso": {"type": "string", "format": "date-time", "description": "ISO 8601, with the zone''s offset."}, "unix": {"type": "integer", "description": "Seconds since 1970-01-01T00:00:00Z."}, "timezone": {"type": "string", "description": "The time zone of `iso`, `date`, `time` and `weekday`."}, "abbreviation": {"type": ["string", "null"], "description": "What the zone is called now, such as CEST."}, "date": {"type": "string", "format": "date"}, "time": {"type": "string", "description": "HH:MM:SS, on a 24-hour clock."}, "weekday": {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]}}, "required": ["iso", "unix", "timezone", "date", "time", "weekday"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "Current Time", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "max_result_bytes": null, "drifted": false, "sealed_auth": null}','2026-11-18 16:39:31.760562','01a1ef87-1c4a-7665-bcf7-a385bdbcd611');
INSERT INTO "tool_versions" VALUES('01a1ef871cc576b69cb3dd1c0be3ac75','9e60bc7b2e6952c6bbf20b00e3006074',1,'{"name": "json_query", "tool_type": "builtin", "config": {"operation": "json_query"}, "input_schema": {"type": "object", "properties": {"data": {"description": "The JSON value to query: an object or array, not a string with JSON in it."}, "query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The JMESPath expression.", "examples": ["items[0].name", "items[?price > `10`].{name: name, price: price}", "sort_by(items, &price)[-1]", "length(items)"]}}, "required": ["data", "query"], "examples": [{"data": {"items": [{"name": "a", "price": 5}, {"name": "b", "price": 20}]}, "query": "items[?price > `10`]"}]}, "description": "Selects, filters, sorts and reshapes parts of a JSON value with a JMESPath query, and returns what it finds; null where nothing matches. Use it to get a few values out of a large JSON result without copying it by hand. Numbers in a query stand in backticks (`10`), strings in single quotes (''red''). It has no arithmetic.", "output_schema": {"type": "object", "properties": {"result": {"description": "What the query selects; null where nothing matches."}}, "required": ["result"]}, "rate_limit": null, "is_active": true, "is_public": true, "display_name": "JSON Query", "tags": ["builtin"], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": true, "read_only": true, "destructive": false, "keep_arguments": false, "max_result_bytes": null, "drifted": false, "sealed_auth": null}','2026-11-18 16:39:31.772627','01a1ef87-1c4a-7665-bcf7-a385bdbcd611');
INSERT INTO "tool_versions" VALUES('01a1ef871d30733d9ce424d2687f1352','01a1ef871d1e7071b334e19ce447748e',1,'{"name": "kept", "tool_type": "mock", "config": {"mock_response": {"sky": "clear"}}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden kept", "output_schema": null, "rate_limit": null, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": true, "max_result_bytes": null, "drifted": false, "sealed_auth": null}','2026-11-18 16:39:31.870020','01a1ef87-1c4a-7665-bcf7-a385bdbcd611');
INSERT INTO "tool_versions" VALUES('01a1ef871d4c701fac4edd51cc10e42f','01a1ef871d427c248b06a94d506bd9ad',1,'{"name": "limited", "tool_type": "mock", "config": {"mock_response": 1}, "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}, "description": "Golden limited", "output_schema": null, "rate_limit": {"max_calls": 1, "period": "hour", "burst": null, "scope": "caller"}, "is_active": true, "is_public": false, "display_name": null, "tags": [], "timeout": null, "unknown_parameters": "ignore", "result_style": "plain", "retry": null, "fallback": null, "idempotent": false, "read_only": false, "destructive": false, "keep_arguments": false, "max_result_bytes": null, "drifted": false, "sealed_auth": null}','2026-11-18 16:39:31.906752','01a1ef87-1c4a-7665-bcf7-a385bdbcd611');
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
	drifted BOOLEAN NOT NULL, 
	CONSTRAINT pk_tools PRIMARY KEY (id), 
	CONSTRAINT ck_tools_tool_type CHECK (tool_type IN ('http', 'mcp', 'python', 'shell', 'builtin', 'mock', 'internal', 'table')), 
	CONSTRAINT ck_tools_is_active CHECK (is_active IS NOT NULL), 
	CONSTRAINT ck_tools_is_public CHECK (is_public IS NOT NULL), 
	CONSTRAINT fk_tools_owner_id FOREIGN KEY(owner_id) REFERENCES users (id)
);
INSERT INTO "tools" VALUES('4f56c6ab4df05007b19254f29c273c7e',1,'2026-11-18 16:39:31.707694','2026-11-18 16:39:31.707694',0,NULL,'01a1ef871c4a7665bcf7a385bdbcd611','math_eval','Evaluates one arithmetic expression and returns the number. Use it for any calculation beyond trivial mental arithmetic instead of working it out yourself. Operators: + - * / // (floor division) % (modulo, not percent) ^ or ** (power) and ! (factorial). Constants: pi, e, tau. Functions: sqrt, cbrt, abs, round, floor, ceil, trunc, sign, exp, log, ln, log2, log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, min, max, sum, mean, pow, mod, gcd, lcm, factorial, hypot, degrees, radians. Angles are in radians; log is natural unless written log(x, base). There are no variables, comparisons, lists or units, and numbers are written without thousands separators.','builtin','{"operation": "math_eval"}','{"type": "object", "properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "The expression to evaluate.", "examples": ["2+2", "(1 + 0.05)^10 * 1000", "sqrt(3^2 + 4^2)", "sin(radians(30))"]}}, "required": ["expression"], "examples": [{"expression": "(1 + 0.05)^10 * 1000"}]}','{"type": "object", "properties": {"result": {"type": "number", "description": "The value; whole numbers beyond 64 bits are rounded to a floating-point number."}}, "required": ["result"]}',NULL,NULL,1,1,1,'Calculator','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0);
INSERT INTO "tools" VALUES('6b6d2eda2c7950659ce66502d73cc282',1,'2026-11-18 16:39:31.740385','2026-11-18 16:39:31.740385',0,NULL,'01a1ef871c4a7665bcf7a385bdbcd611','echo','Returns exactly the arguments it was called with, under `echo`. Use it to check that tool calls work and how your arguments arrive; it does nothing else.','builtin','{"operation": "echo"}','{"type": "object", "additionalProperties": true, "examples": [{"message": "hello"}]}','{"type": "object", "properties": {"echo": {"type": "object", "description": "The arguments of the call."}}, "required": ["echo"]}',NULL,NULL,1,1,1,'Echo','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0);
INSERT INTO "tools" VALUES('85f568ed8cd35e11a508d3927f353e28',1,'2026-11-18 16:39:31.752258','2026-11-18 16:39:31.752258',0,NULL,'01a1ef871c4a7665bcf7a385bdbcd611','calculate_rsi','Calculates the relative strength index (RSI) of a series of prices, with Wilder''s smoothing, and says whether the last value is overbought or oversold. Give the closing prices oldest first, at least period + 1 of them; around 100 or more make the smoothing settle. It fetches no prices: you must have them already.','builtin','{"operation": "calculate_rsi"}','{"type": "object", "properties": {"prices": {"type": "array", "items": {"type": "number", "minimum": -1e+300, "maximum": 1e+300}, "minItems": 2, "maxItems": 100000, "description": "Closing prices, oldest first; at least period + 1.", "examples": [[44.34, 44.09, 44.15, 43.61, 44.33]]}, "period": {"type": "integer", "minimum": 1, "maximum": 99999, "default": 14, "description": "How many price changes are averaged; 14 is usual."}, "overbought": {"type": "number", "minimum": 0, "maximum": 100, "default": 70, "description": "The RSI from which on the answer''s `overbought` is true."}, "oversold": {"type": "number", "minimum": 0, "maximum": 100, "default": 30, "description": "The RSI down from which the answer''s `oversold` is true."}, "include_series": {"type": "boolean", "default": true, "description": "false leaves `series` out of the answer: shorter when only the last value matters."}}, "required": ["prices"], "examples": [{"prices": [44.34, 44.09, 44.15, 43.61, 44.33], "period": 3}]}','{"type": "object", "properties": {"rsi": {"type": "number", "minimum": 0, "maximum": 100, "description": "The RSI at the last price."}, "overbought": {"type": "boolean", "description": "Whether `rsi` is at or above the threshold."}, "oversold": {"type": "boolean", "description": "Whether `rsi` is at or below the threshold."}, "period": {"type": "integer", "description": "The period that was used."}, "series": {"type": "array", "items": {"type": ["number", "null"]}, "description": "The RSI at every price, as many as `prices`; null for the first `period` of them."}}, "required": ["rsi", "overbought", "oversold", "period"]}',NULL,NULL,1,1,1,'Calculate RSI','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0);
INSERT INTO "tools" VALUES('41a86778e8bd54c69de12c75630f7f9e',1,'2026-11-18 16:39:31.760562','2026-11-18 16:39:31.760562',0,NULL,'01a1ef871c4a7665bcf7a385bdbcd611','current_time','Returns the current date, time and weekday, in UTC or in the time zone you name. Call it whenever an answer depends on what day or time it is now; you cannot know that otherwise.','builtin','{"operation": "current_time"}','{"type": "object", "properties": {"timezone": {"type": "string", "maxLength": 64, "default": "UTC", "description": "An IANA time zone name.", "examples": ["UTC", "Europe/Berlin", "America/New_York"]}}, "examples": [{}, {"timezone": "Europe/Berlin"}]}','{"type": "object", "properties": {"iso": {"type": "string", "format": "date-time", "description": "ISO 8601, with the zone''s offset."}, "unix": {"type": "integer", "description": "Seconds since 1970-01-01T00:00:00Z."}, "timezone": {"type": "string", "description": "The time zone of `iso`, `date`, `time` and `weekday`."}, "abbreviation": {"type": ["string", "null"], "description": "What the zone is called now, such as CEST."}, "date": {"type": "string", "format": "date"}, "time": {"type": "string", "description": "HH:MM:SS, on a 24-hour clock."}, "weekday": {"type": "string", "enum": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]}}, "required": ["iso", "unix", "timezone", "date", "time", "weekday"]}',NULL,NULL,1,1,1,'Current Time','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0);
INSERT INTO "tools" VALUES('9e60bc7b2e6952c6bbf20b00e3006074',1,'2026-11-18 16:39:31.772627','2026-11-18 16:39:31.772627',0,NULL,'01a1ef871c4a7665bcf7a385bdbcd611','json_query','Selects, filters, sorts and reshapes parts of a JSON value with a JMESPath query, and returns what it finds; null where nothing matches. Use it to get a few values out of a large JSON result without copying it by hand. Numbers in a query stand in backticks (`10`), strings in single quotes (''red''). It has no arithmetic.','builtin','{"operation": "json_query"}','{"type": "object", "properties": {"data": {"description": "The JSON value to query: an object or array, not a string with JSON in it."}, "query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The JMESPath expression.", "examples": ["items[0].name", "items[?price > `10`].{name: name, price: price}", "sort_by(items, &price)[-1]", "length(items)"]}}, "required": ["data", "query"], "examples": [{"data": {"items": [{"name": "a", "price": 5}, {"name": "b", "price": 20}]}, "query": "items[?price > `10`]"}]}','{"type": "object", "properties": {"result": {"description": "What the query selects; null where nothing matches."}}, "required": ["result"]}',NULL,NULL,1,1,1,'JSON Query','["builtin"]',NULL,'ignore','plain',NULL,NULL,1,1,0,0,NULL,0);
INSERT INTO "tools" VALUES('01a1ef871d1e7071b334e19ce447748e',2,'2026-11-18 16:39:31.870020','2026-11-18 16:39:31.870020',0,NULL,'01a1ef871c4a7665bcf7a385bdbcd611','kept','Golden kept','mock','{"mock_response": {"sky": "clear"}}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,NULL,1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,1,NULL,0);
INSERT INTO "tools" VALUES('01a1ef871d427c248b06a94d506bd9ad',3,'2026-11-18 16:39:31.906752','2026-11-18 16:39:31.906752',0,NULL,'01a1ef871c4a7665bcf7a385bdbcd611','limited','Golden limited','mock','{"mock_response": 1}','{"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "number"}}, "required": ["text"]}',NULL,NULL,'{"max_calls": 1, "period": "hour", "burst": null, "scope": "caller"}',1,0,1,NULL,'[]',NULL,'ignore','plain',NULL,NULL,0,0,0,0,NULL,0);
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
INSERT INTO "users" VALUES('01a1ef871c4a7665bcf7a385bdbcd611',1,'2026-11-18 16:39:31.658390','2026-11-18 16:39:31.658390',0,NULL,'admin','admin');
INSERT INTO "users" VALUES('01a1ef871fd7788ca5801e4ace3f9d7d',4,'2026-11-18 16:39:32.567525','2026-11-18 16:39:32.567525',0,NULL,'ada','member');
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
CREATE INDEX idx_execution_tool ON executions (tool_id, id);
CREATE INDEX idx_execution_name ON executions (tool_name, id);
CREATE INDEX idx_execution_caller ON executions (caller_id, id);
CREATE INDEX idx_execution_status ON executions (status, id);
CREATE INDEX idx_execution_started ON executions (started_at);
COMMIT;
