"""What PostgreSQL's catalog says about a table."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from pegboard.executors.table.facts import Column, Facts, Family, ForeignKey

_TABLE = """
SELECT c.oid, n.nspname, c.relkind::text, obj_description(c.oid, 'pg_class'),
  EXISTS (SELECT FROM pg_trigger g
    WHERE g.tgrelid IN (SELECT c.oid UNION ALL SELECT relid FROM pg_partition_tree(c.oid))
    AND NOT g.tgisinternal AND g.tgtype & 7 = 7)
  OR EXISTS (SELECT FROM pg_rewrite w WHERE w.ev_class = c.oid AND w.ev_type = '3')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relname = $1::text AND c.relkind IN ('r', 'p', 'f', 'v', 'm', 'S')
  AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
  AND (n.nspname = $2::text OR $2::text IS NULL AND pg_table_is_visible(c.oid))
"""
# A domain is followed to what it is made of, an array to its elements.
_COLUMNS = """
WITH RECURSIVE made AS (
  SELECT a.attnum, a.atttypid AS type, a.atttypmod AS mod, false AS in_array, a.attnotnull AS filled,
    false AS has_default
  FROM pg_attribute a WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped
  UNION ALL
  SELECT m.attnum, CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.typelem END,
    CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE m.mod END, m.in_array OR t.typtype <> 'd',
    m.filled OR t.typtype = 'd' AND t.typnotnull AND NOT m.in_array,
    m.has_default OR t.typtype = 'd' AND t.typdefault IS NOT NULL
  FROM made m JOIN pg_type t ON t.oid = m.type
  WHERE t.typtype = 'd' OR t.typcategory = 'A' AND t.typelem <> 0 AND NOT m.in_array
)
SELECT a.attname AS name, m.in_array, t.typname, t.typtype::text AS kind, t.typcategory::text AS category,
  format_type(m.type, m.mod) AS type, m.mod, m.filled, m.has_default, a.attidentity::text AS identity,
  a.attgenerated::text AS generated, pg_get_expr(d.adbin, d.adrelid) AS standard,
  col_description(a.attrelid, a.attnum) AS comment,
  ARRAY(SELECT e.enumlabel::text FROM pg_enum e WHERE e.enumtypid = m.type ORDER BY e.enumsortorder) AS labels,
  EXISTS (
    SELECT FROM pg_sequence s JOIN pg_depend p ON p.classid = 'pg_class'::regclass AND p.objid = s.seqrelid
      AND p.refobjid = a.attrelid AND p.refobjsubid = a.attnum AND p.deptype = 'i'
    WHERE s.seqincrement > 0 AND NOT s.seqcycle
  ) OR EXISTS (
    SELECT FROM pg_sequence s JOIN pg_depend p ON p.refclassid = 'pg_class'::regclass AND p.refobjid = s.seqrelid
      AND p.classid = 'pg_attrdef'::regclass AND p.objid = d.oid
    WHERE s.seqincrement > 0 AND NOT s.seqcycle
  ) AS has_sequence
FROM made m JOIN pg_attribute a ON a.attrelid = $1 AND a.attnum = m.attnum JOIN pg_type t ON t.oid = m.type
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE t.typtype <> 'd' ORDER BY a.attnum, m.in_array
"""
# The indexes of partitions too: it is their names that errors give. A key that may not be read is as good as none.
_UNIQUES = """
SELECT x.relname AS name, pg_get_expr(i.indexprs, i.indrelid) AS expressions,
  i.indrelid = $1 AND i.indisprimary AND NOT EXISTS (SELECT FROM unnest(i.indkey::int2[]) AS k(number)
    WHERE NOT has_column_privilege(i.indrelid, k.number, 'SELECT')) AS is_key,
  ARRAY(SELECT a.attname::text FROM unnest(i.indkey::int2[]) WITH ORDINALITY k(number, place)
    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number
    WHERE k.place <= i.indnkeyatts ORDER BY k.place) AS columns
FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid
WHERE i.indisunique AND i.indrelid IN (SELECT $1::oid UNION ALL SELECT relid FROM pg_partition_tree($1::oid))
"""
_CONSTRAINTS = """
SELECT o.conname AS name, o.contype::text AS kind, pg_get_constraintdef(o.oid) AS definition,
  o.confrelid::regclass::text AS refers_to,
  ARRAY(SELECT a.attname::text FROM unnest(o.conkey) WITH ORDINALITY k(number, place)
    JOIN pg_attribute a ON a.attrelid = o.conrelid AND a.attnum = k.number ORDER BY k.place) AS columns
FROM pg_constraint o WHERE o.conrelid = $1 AND o.contype IN ('f', 'c', 'x') ORDER BY o.conname
"""
# The checks of domains, as checks of the columns that are of them.
_DOMAINS = """
WITH RECURSIVE made AS (
  SELECT a.attname, a.attnum, a.atttypid AS type
  FROM pg_attribute a WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped
  UNION ALL
  SELECT m.attname, m.attnum, t.typbasetype FROM made m JOIN pg_type t ON t.oid = m.type WHERE t.typtype = 'd'
)
SELECT o.conname AS name, string_agg(regexp_replace(pg_get_constraintdef(o.oid), '\\mVALUE\\M',
  replace(quote_ident(m.attname), '\\', '\\\\'), 'g'), ' AND ' ORDER BY m.attnum) AS definition
FROM made m JOIN pg_constraint o ON o.contypid = m.type AND o.contype = 'c' GROUP BY o.conname
"""
_TABLES = """
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'f') AND NOT c.relispartition
  AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
  AND (n.nspname = $1::text OR $1::text IS NULL AND pg_table_is_visible(c.oid))
ORDER BY c.relname
"""
# A row in a foreign table might be committed there and not here.
_UNFIT = {
    "v": "it is a view",
    "m": "it is a materialized view",
    "S": "it is a sequence",
    "f": "it is a foreign table; name its own database as a source instead",
}
_FAMILIES: dict[str, Family] = {
    **dict.fromkeys(("text", "varchar", "bpchar", "citext"), "text"),
    **dict.fromkeys(("int2", "int4", "int8"), "integer"),
    **dict.fromkeys(("float4", "float8"), "float"),
    **dict.fromkeys(("json", "jsonb"), "json"),
    **dict.fromkeys(("time", "timetz"), "time"),
    "numeric": "numeric",
    "bool": "boolean",
    "timestamptz": "instant",
    "timestamp": "local",
    "date": "date",
    "uuid": "uuid",
    "bytea": "bytes",
    # These two cut what is too long for them without a word.
    "name": "bytes",
    "char": "bytes",
}
_BITS = {"int2": 16, "int4": 32, "int8": 64}
_RANDOM = re.compile(
    r"\(?(?:(?:\w+|\"[^\"]+\")\.)?(?:gen_random_uuid|uuid_generate_v4|uuidv4)\(\)\)?(?:::(?:text|character varying))?"
)
_WORDS = re.compile(r'"((?:[^"]|"")+)"|(\w+)')
_NEXT = re.compile(r"nextval\('(?:[^']|'')+'::regclass\)")


async def read_facts(conn: Any, schema: str | None, table: str) -> Facts | None:
    """What the database says of the table at one moment; None if it has no such."""
    async with conn.transaction(isolation="repeatable_read", readonly=True):
        found = await conn.fetchrow(_TABLE, table, schema)
        if found is None:
            return None
        oid, namespace, kind, comment, is_rewritten = found
        rows = await conn.fetch(_COLUMNS, oid)
        uniques = await conn.fetch(_UNIQUES, oid)
        constraints = await conn.fetch(_CONSTRAINTS, oid)
        domains = await conn.fetch(_DOMAINS, oid)
    references = [row for row in constraints if row["kind"] == "f"]
    parts: defaultdict[str, list[Any]] = defaultdict(list)
    for row in rows:
        parts[row["name"]].append(row)
    columns = {name: _column(found, is_rewritten=is_rewritten) for name, found in parts.items()}
    return Facts(
        schema=namespace,
        table=table,
        columns=columns,
        key=next((tuple(row["columns"]) for row in uniques if row["is_key"]), ()),
        uniques={
            row["name"]: tuple(dict.fromkeys([*row["columns"], *mentioned(row["expressions"] or "", columns)]))
            for row in uniques
        },
        foreign_keys={row["name"]: ForeignKey(tuple(row["columns"]), row["refers_to"]) for row in references},
        checks={row["name"]: row["definition"] for row in [*domains, *constraints] if row.get("kind") != "f"},
        comment=comment,
        unfit=_UNFIT.get(kind),
    )


def mentioned(definition: str, columns: Iterable[str]) -> tuple[str, ...]:
    """Which of these columns an expression speaks of, as the server writes it."""
    without_texts = re.sub(r"'(?:[^']|'')*'", "''", definition)
    words = {quoted.replace('""', '"') or plain for quoted, plain in _WORDS.findall(without_texts)}
    return tuple(name for name in columns if name in words)


async def read_tables(conn: Any, schema: str | None) -> list[str]:
    """The names of the tables in the schema, or of those found without naming one."""
    return [row[0] for row in await conn.fetch(_TABLES, schema)]


def _column(rows: list[Any], *, is_rewritten: bool) -> Column:
    row = rows[0]
    standard = row["standard"] or ""
    is_counted = row["identity"] != "" or bool(_NEXT.fullmatch(standard))
    return Column(
        name=row["name"],
        nullable=not row["filled"],
        has_default=bool(standard or row["identity"] or row["has_default"]),
        is_generated=row["identity"] == "a" or row["generated"] != "",
        # A trigger or a rule may give a row another number than the sequence did.
        counts=is_counted and row["has_sequence"] and not is_rewritten,
        is_random_uuid=bool(_RANDOM.fullmatch(standard)),
        comment=row["comment"],
        element=Column(name=row["name"], **_type(rows[1])) if len(rows) > 1 else None,
        **_type(row),
    )


def _type(row: Any) -> dict[str, Any]:
    name, mod = row["typname"], row["mod"]
    described: dict[str, Any] = {"type": row["type"], "family": _family(row), "labels": tuple(row["labels"])}
    if name in _BITS:
        described |= {"low": -(2 ** (_BITS[name] - 1)), "high": 2 ** (_BITS[name] - 1) - 1}
    elif name in {"varchar", "bpchar"} and mod >= 0:
        described["max_length"] = mod - 4
    elif name == "numeric" and mod >= 0:
        # Eleven bits for the scale, which may be negative.
        described |= {"precision": (mod - 4) >> 16 & 0xFFFF, "scale": (((mod - 4) & 0x7FF) ^ 1024) - 1024}
    elif name in {"timestamp", "timestamptz", "time", "timetz"} and mod >= 0:
        described["precision"] = mod
    return described


def _family(row: Any) -> Family:
    if row["kind"] == "e":
        return "enum"
    if row["category"] == "A":
        return "array"
    return _FAMILIES.get(row["typname"], "other")
