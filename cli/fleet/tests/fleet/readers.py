"""Reads a lake with DuckDB, Polars and the Python package of Delta, and compares the answers with those of trace-fleet.

The argument is a JSON file with the path of the lake, its version, the data files of each table, and for each named question
the SQL, the parameters and the expected answer as comma-separated values.
"""

import csv
import io
import json
import math
import sys

import deltalake
import duckdb
import polars

# Tables without rows have no data file. Their columns come from the Delta schema.
TYPES = {"string": "VARCHAR", "long": "BIGINT", "double": "DOUBLE", "boolean": "BOOLEAN", "date": "DATE", "timestamp": "TIMESTAMPTZ"}


def sql_type(kind):
    return TYPES[kind] if isinstance(kind, str) else "BIGINT[]"


def same(one, other):
    """Compares two values of a text table: numbers as numbers."""
    if one == other:
        return True
    if {one, other} <= {"true", "false", "True", "False"}:
        return one.lower() == other.lower()
    try:
        return math.isclose(float(one), float(other), rel_tol=1e-9, abs_tol=1e-9)
    except ValueError:
        return False


def main():
    expected = json.load(open(sys.argv[1], encoding="utf-8"))
    db = duckdb.connect()
    for table, files in expected["files"].items():
        folder = f"{expected['lake']}/tables/{table}"
        delta = deltalake.DeltaTable(folder)
        assert delta.version() == expected["version"], (table, delta.version())
        assert sorted(delta.file_uris()) == sorted(files), table
        fields = json.loads(delta.schema().to_json())["fields"]
        if files:
            names = ", ".join(f"'{file}'" for file in files)
            db.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet([{names}])")
        else:
            columns = ", ".join(f"{field['name']} {sql_type(field['type'])}" for field in fields)
            db.execute(f"CREATE TABLE {table} ({columns})")
        count = db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        assert delta.to_pyarrow_table().num_rows == count if files else count == 0, table
        assert polars.scan_delta(folder).select(polars.len()).collect().item() == count, table
        names = [row[0] for row in db.execute(f"DESCRIBE {table}").fetchall()]
        assert names == [field["name"] for field in fields], (table, names)
    # Whoever reads the tables at the version of the sessions table sees one commit.
    db.execute("CREATE VIEW costs AS SELECT *, CAST(NULL AS DOUBLE) AS money FROM inference_calls")
    for question in expected["questions"]:
        parameters = question["parameters"]
        found = db.execute(question["sql"], parameters) if parameters else db.execute(question["sql"])
        header = [column[0] for column in found.description]
        rows = [["" if value is None else str(value) for value in row] for row in found.fetchall()]
        own = list(csv.reader(io.StringIO(question["csv"])))
        assert own[0] == header, (question["name"], own[0], header)
        assert len(own) - 1 == len(rows), (question["name"], len(own) - 1, len(rows))
        for number, (one, other) in enumerate(zip(own[1:], rows)):
            for column, a, b in zip(header, one, other):
                assert same(a, b), (question["name"], number, column, a, b)
    print(f"{len(expected['questions'])} questions are equal")


main()
