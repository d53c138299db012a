"""The journal at ten million rows: reading it is as quick as reading an almost empty one."""

from __future__ import annotations

from datetime import timedelta

ROWS, QUICK_ROWS, FEW_ROWS = 10_000_000, 300_000, 1_000
TOOLS, CALLERS = 50, 100
SPAN = timedelta(days=30)
PAGE = 50
ROUNDS = 15
# How much longer a question may take of the full journal than of the almost empty one.
MAX_MORE_MS = 5.0
AT_ONCE = 250_000

# Chance that is the same in every run: each part of a row is drawn from the number of the row.
_DRAWN = "((n * {factor} + {shift}) % 1000003) / 1000003.0"
_FILL = f"""
WITH RECURSIVE numbers(n) AS (SELECT :first UNION ALL SELECT n + 1 FROM numbers WHERE n < :last),
chance AS (
  SELECT n, :begin + n * :step AS ms, {_DRAWN.format(factor=7919, shift=13)} AS a,
    {_DRAWN.format(factor=104729, shift=101)} AS b, {_DRAWN.format(factor=1299709, shift=7)} AS c,
    {_DRAWN.format(factor=15485863, shift=31)} AS d FROM numbers
),
drawn AS (
  SELECT n, ms, CAST({TOOLS} * a * a AS INTEGER) AS tool, CAST({CALLERS} * b * b AS INTEGER) AS caller, c,
    round((1 + CAST({TOOLS} * a * a AS INTEGER)) * (0.2 + 0.02 / (1.0001 - d)), 3) AS elapsed,
    strftime('%Y-%m-%d %H:%M:%f', ms / 1000.0, 'unixepoch') || '000' AS at FROM chance
)
INSERT INTO executions (id, tool_name, status, started_at, finished_at, elapsed_ms, caller_id, caller, surface, dialect,
  attempts, tool_id, tool_version, kind, request_id, code, error, arguments_digest, writer, seq, mac)
SELECT printf('%012x7%03x8%015x', CAST(ms AS INTEGER), n % 4096, n), 'tool_' || tool,
  CASE WHEN c < 0.98 THEN 'succeeded' WHEN c < 0.99 THEN 'failed' WHEN c < 0.9999 THEN 'refused' ELSE 'in_doubt' END,
  at, at, elapsed, printf('00000000-0000-7000-8000-%012d', caller), 'user ' || caller, 'rest', 'plain', 1,
  printf('00000000-0000-7000-9000-%012d', tool), 1, 'http', printf('request-%032d', n),
  CASE WHEN c < 0.98 THEN NULL WHEN c < 0.985 THEN 'timeout' WHEN c < 0.99 THEN 'execution_failed'
    WHEN c < 0.995 THEN 'rate_limited' WHEN c < 0.9999 THEN 'invalid_type' ELSE 'in_doubt' END,
  CASE WHEN c < 0.98 THEN NULL ELSE 'It did not go as it should have gone' END, printf('%064x', n), 1, n,
  printf('%032x', n)
FROM drawn
"""
_COUNT = """
INSERT INTO execution_counts (hour, tool_name, caller_id, status, code, bucket, calls)
SELECT CAST(strftime('%s', started_at) AS INTEGER) / 3600, tool_name, {whose}, status, coalesce(code, ''),
  bucket_of(elapsed_ms), count(*)
FROM executions WHERE writer = 1 AND seq BETWEEN :first AND :last GROUP BY 1, 2, 3, 4, 5, 6
ON CONFLICT DO UPDATE SET calls = execution_counts.calls + excluded.calls
"""
