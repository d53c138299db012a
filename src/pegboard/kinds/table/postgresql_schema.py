"""Reads the schema of a table from PostgreSQL's catalog.

Not with SQLAlchemy's Inspector: it reports no triggers and rules, which may change inserted rows and their keys.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from pegboard.kinds.table.table_schema import Column, ColumnFamily, ForeignKey, TableSchema

_TABLE_QUERY = """
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
# Domains are resolved to their base types, arrays to their elements.
_COLUMNS_QUERY = """
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
# Includes the indexes of partitions, because errors name those. A key without SELECT privilege counts as none.
_UNIQUES_QUERY = """
SELECT x.relname AS name, pg_get_expr(i.indexprs, i.indrelid) AS expressions,
  i.indrelid = $1 AND i.indisprimary AND NOT EXISTS (SELECT FROM unnest(i.indkey::int2[]) AS k(number)
    WHERE NOT has_column_privilege(i.indrelid, k.number, 'SELECT')) AS is_key,
  ARRAY(SELECT a.attname::text FROM unnest(i.indkey::int2[]) WITH ORDINALITY k(number, place)
    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number
    WHERE k.place <= i.indnkeyatts ORDER BY k.place) AS columns
FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid
WHERE i.indisunique AND i.indrelid IN (SELECT $1::oid UNION ALL SELECT relid FROM pg_partition_tree($1::oid))
"""
_CONSTRAINTS_QUERY = """
SELECT o.conname AS name, o.contype::text AS kind, pg_get_constraintdef(o.oid) AS definition,
  o.confrelid::regclass::text AS refers_to,
  ARRAY(SELECT a.attname::text FROM unnest(o.conkey) WITH ORDINALITY k(number, place)
    JOIN pg_attribute a ON a.attrelid = o.conrelid AND a.attnum = k.number ORDER BY k.place) AS columns
FROM pg_constraint o WHERE o.conrelid = $1 AND o.contype IN ('f', 'c', 'x') ORDER BY o.conname
"""
# The checks of domains, as checks of the columns with these types.
_DOMAINS_QUERY = """
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
_TABLES_QUERY = """
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'f') AND NOT c.relispartition
  AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
  AND (n.nspname = $1::text OR $1::text IS NULL AND pg_table_is_visible(c.oid))
ORDER BY c.relname
"""
# A row in a foreign table might be committed there and not here.
_UNUSABLE_REASONS = {
    "v": "it is a view",
    "m": "it is a materialized view",
    "S": "it is a sequence",
    "f": "it is a foreign table; name its own database as a source instead",
}
_TYPE_FAMILIES: dict[str, ColumnFamily] = {
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
    # These two types truncate long values silently.
    "name": "bytes",
    "char": "bytes",
}
_INTEGER_BITS = {"int2": 16, "int4": 32, "int8": 64}
_RANDOM_UUID_DEFAULT = re.compile(
    r"\(?(?:(?:\w+|\"[^\"]+\")\.)?(?:gen_random_uuid|uuid_generate_v4|uuidv4)\(\)\)?(?:::(?:text|character varying))?"
)
_IDENTIFIERS = re.compile(r'"((?:[^"]|"")+)"|(\w+)')
_SEQUENCE_DEFAULT = re.compile(r"nextval\('(?:[^']|'')+'::regclass\)")


async def read_postgresql_schema(conn: Any, schema: str | None, table: str) -> TableSchema | None:
    """Read the schema of the table in one transaction; None if the table does not exist."""
    async with conn.transaction(isolation="repeatable_read", readonly=True):
        found = await conn.fetchrow(_TABLE_QUERY, table, schema)
        if found is None:
            return None
        oid, namespace, kind, comment, is_rewritten = found
        rows = await conn.fetch(_COLUMNS_QUERY, oid)
        uniques = await conn.fetch(_UNIQUES_QUERY, oid)
        constraints = await conn.fetch(_CONSTRAINTS_QUERY, oid)
        domains = await conn.fetch(_DOMAINS_QUERY, oid)
    references = [row for row in constraints if row["kind"] == "f"]
    parts: defaultdict[str, list[Any]] = defaultdict(list)
    for row in rows:
        parts[row["name"]].append(row)
    columns = {name: _build_column(found, is_rewritten=is_rewritten) for name, found in parts.items()}
    return TableSchema(
        schema=namespace,
        table=table,
        columns=columns,
        key=next((tuple(row["columns"]) for row in uniques if row["is_key"]), ()),
        uniques={
            row["name"]: tuple(
                dict.fromkeys([*row["columns"], *find_mentioned_columns(row["expressions"] or "", columns)])
            )
            for row in uniques
        },
        foreign_keys={row["name"]: ForeignKey(tuple(row["columns"]), row["refers_to"]) for row in references},
        checks={row["name"]: row["definition"] for row in [*domains, *constraints] if row.get("kind") != "f"},
        comment=comment,
        unfit=_UNUSABLE_REASONS.get(kind),
    )


def find_mentioned_columns(definition: str, columns: Iterable[str]) -> tuple[str, ...]:
    """Return the columns that occur in an expression written by the server."""
    without_texts = re.sub(r"'(?:[^']|'')*'", "''", definition)
    words = {quoted.replace('""', '"') or plain for quoted, plain in _IDENTIFIERS.findall(without_texts)}
    return tuple(name for name in columns if name in words)


async def read_postgresql_tables(conn: Any, schema: str | None) -> list[str]:
    """Return the names of the tables in the schema, or of those on the search path."""
    return [row[0] for row in await conn.fetch(_TABLES_QUERY, schema)]


def _build_column(rows: list[Any], *, is_rewritten: bool) -> Column:
    row = rows[0]
    standard = row["standard"] or ""
    is_counted = row["identity"] != "" or bool(_SEQUENCE_DEFAULT.fullmatch(standard))
    return Column(
        name=row["name"],
        nullable=not row["filled"],
        has_default=bool(standard or row["identity"] or row["has_default"]),
        is_generated=row["identity"] == "a" or row["generated"] != "",
        # A trigger or a rule may change the number that the sequence gave.
        counts=is_counted and row["has_sequence"] and not is_rewritten,
        is_random_uuid=bool(_RANDOM_UUID_DEFAULT.fullmatch(standard)),
        comment=row["comment"],
        element=Column(name=row["name"], **_describe_type(rows[1])) if len(rows) > 1 else None,
        **_describe_type(row),
    )


def _describe_type(row: Any) -> dict[str, Any]:
    name, mod = row["typname"], row["mod"]
    described: dict[str, Any] = {"type": row["type"], "family": _find_family(row), "labels": tuple(row["labels"])}
    if name in _INTEGER_BITS:
        described |= {"low": -(2 ** (_INTEGER_BITS[name] - 1)), "high": 2 ** (_INTEGER_BITS[name] - 1) - 1}
    elif name in {"varchar", "bpchar"} and mod >= 0:
        described["max_length"] = mod - 4
    elif name == "numeric" and mod >= 0:
        # Eleven bits for the scale, which may be negative.
        described |= {"precision": (mod - 4) >> 16 & 0xFFFF, "scale": (((mod - 4) & 0x7FF) ^ 1024) - 1024}
    elif name in {"timestamp", "timestamptz", "time", "timetz"} and mod >= 0:
        described["precision"] = mod
    return described


def _find_family(row: Any) -> ColumnFamily:
    if row["kind"] == "e":
        return "enum"
    if row["category"] == "A":
        return "array"
    return _TYPE_FAMILIES.get(row["typname"], "other")
