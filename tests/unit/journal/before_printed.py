"""A journal of a former version without the column `printed`, byte for byte; the key is `chained_journals.CHAIN`'s."""

from __future__ import annotations

from typing import Any

# Two rows of writer 1 as they are stored, each with its MAC; then the signatures of its head and of the writers' count.
ROWS: list[tuple[tuple[Any, ...], str]] = [
    (
        (
            *("019ca955-0000-7000-8000-000000000001", "add", "succeeded"),
            *("2026-03-01 12:31:15.123456", "2026-03-01 12:31:16.123456", 1.5),
            *("019ca955-0000-7000-8000-0000000000aa", "ada", "rest", "plain", 1),
            *("019ca955-0000-7000-8000-0000000000bb", 3, "mock", None, None, "r-1", None, None, "abc", '{"n":1}'),
            *(None, None, None, None, '{"ü":[1.5,null]}'),
        ),
        "043bf8abac239014e0bce062cb7290da",
    ),
    (
        (
            *("019ca955-0000-7000-8000-000000000002", "add", "failed"),
            *("2026-03-01 12:32:15.123456", "2026-03-01 12:32:16.123456", 1.5),
            *("019ca955-0000-7000-8000-0000000000aa", "ada", "rest", "plain", 1),
            *(None, None, None, None, None, None, "execution_failed", "stuck ☂", None, None),
            *(None, None, None, None, None),
        ),
        "25784f912882edbf84effca8cd8808e3",
    ),
]
HEAD_SIGNATURE = "d4beafff2f07a2cab34730248ecc57aa"
WRITERS_SIGNATURE = "3879c99376ac167154a1576a3c274c0e"

# The columns of a row at revision 0003, in the order of the values above.
COLUMNS = (
    *("id", "tool_name", "status", "started_at", "finished_at", "elapsed_ms", "caller_id", "caller", "surface"),
    *("dialect", "attempts", "tool_id", "tool_version", "kind", "key_id", "agent_id", "request_id", "code", "error"),
    *("arguments_digest", "arguments", "row_id", "chain_id", "thread_id", "repeat_of", "result"),
)

# An export of these rows.
LINES = [
    '{"pegboard_export":1,"made_at":"2026-11-15T18:46:09.456154Z","since":null,"until":null,'
    '"mac":"92d4839caa9b575d973dd2e28024977f"}',
    '{"pegboard_writer":1,"pruned_seq":0,"pruned_mac":"","signature":""}',
    '{"id":"019ca955-0000-7000-8000-000000000001","tool_name":"add","status":"succeeded",'
    '"started_at":"2026-03-01T12:31:15.123456Z","finished_at":"2026-03-01T12:31:16.123456Z","elapsed_ms":1.5,'
    '"caller_id":"019ca955-0000-7000-8000-0000000000aa","caller":"ada","surface":"rest","dialect":"plain",'
    '"attempts":1,"tool_id":"019ca955-0000-7000-8000-0000000000bb","tool_version":3,"kind":"mock","key_id":null,'
    '"agent_id":null,"request_id":"r-1","code":null,"error":null,"arguments_digest":"abc","arguments":{"n":1},'
    '"row_id":null,"chain_id":null,"thread_id":null,"repeat_of":null,"result":{"ü":[1.5,null]},"writer":1,"seq":1,'
    '"mac":"043bf8abac239014e0bce062cb7290da","previous":""}',
    '{"id":"019ca955-0000-7000-8000-000000000002","tool_name":"add","status":"failed",'
    '"started_at":"2026-03-01T12:32:15.123456Z","finished_at":"2026-03-01T12:32:16.123456Z","elapsed_ms":1.5,'
    '"caller_id":"019ca955-0000-7000-8000-0000000000aa","caller":"ada","surface":"rest","dialect":"plain",'
    '"attempts":1,"tool_id":null,"tool_version":null,"kind":null,"key_id":null,"agent_id":null,"request_id":null,'
    '"code":"execution_failed","error":"stuck ☂","arguments_digest":null,"arguments":null,"row_id":null,'
    '"chain_id":null,"thread_id":null,"repeat_of":null,"result":null,"writer":1,"seq":2,'
    '"mac":"25784f912882edbf84effca8cd8808e3","previous":"043bf8abac239014e0bce062cb7290da"}',
    '{"pegboard_head":1,"seq":2,"mac":"25784f912882edbf84effca8cd8808e3",'
    '"signature":"d4beafff2f07a2cab34730248ecc57aa"}',
    '{"pegboard_end":1,"signature":"3879c99376ac167154a1576a3c274c0e"}',
]

# The row in an intent.
INTENT_ID = "019ca955-0000-7000-8000-000000000003"
INTENT = (
    '["019ca955-0000-7000-8000-000000000003","add","in_doubt","2026-03-01 12:33:15.123456",'
    '"2026-03-01 12:33:16.123456",1.5,"019ca955-0000-7000-8000-0000000000aa","ada","rest","plain",1,null,null,'
    '"internal",null,null,null,"in_doubt","whatever",null,null,null,null,null,null,null]'
)

# The spool of a dead writer, without the zeros after its one entry.
SPOOL_WRITER = "019ca955-0000-7000-8000-0000000000cc"
SPOOLED_ID = "019ca955-0000-7000-8000-000000000004"
SPOOL = (
    b"\n654832e3a77a47feafc1b474145c7028 1 "
    b"W1siMDE5Y2E5NTUtMDAwMC03MDAwLTgwMDAtMDAwMDAwMDAwMDA0IiwiYWRkIiwic3VjY2VlZGVkIiwiMjAyNi0wMy0wMSAxMjozNDoxNS4xMjM0"
    b"NTYiLCIyMDI2LTAzLTAxIDEyOjM0OjE2LjEyMzQ1NiIsMS41LCIwMTljYTk1NS0wMDAwLTcwMDAtODAwMC0wMDAwMDAwMDAwYWEiLCJhZGEiLCJy"
    b"ZXN0IiwicGxhaW4iLDEsbnVsbCxudWxsLG51bGwsbnVsbCxudWxsLG51bGwsbnVsbCxudWxsLG51bGwsbnVsbCxudWxsLG51bGwsbnVsbCxudWxs"
    b"LG51bGxdLCJub25lIiwiZG9uZSIsbnVsbCxmYWxzZSxmYWxzZV0=\n"
)
