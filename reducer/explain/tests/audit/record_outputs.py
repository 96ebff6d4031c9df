#!/usr/bin/env python3
"""Records what real runners print, for the tests of `trace audit`.

usage: record_outputs.py [--node MODULES] [--python FOLDER] [--only WORD] > outputs/recorded.txt

The program makes tiny projects in a temporary folder, runs the commands below in them, and prints one record for
each. What a command is expected to be stands beside it here and was written by hand. A program that the machine does
not have is named on standard error and left out. MODULES is a folder `node_modules` with jest, vitest, mocha, ava,
tape, typescript, eslint, prettier and @biomejs/biome; FOLDER has the programs pytest, ruff, mypy, flake8, black,
pylint, isort, coverage, tox (and pytest-cov, pytest-xdist).

The format of the records is explained in outputs/README.md.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

CALC_PY = "def add(a, b):\n    return a + b\n\n\ndef halve(n):\n    return n // 2\n"
TEST_PY = "from calc import add, halve\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\ndef test_halve():\n    assert halve(4) == 2\n"
TEST_PY_BAD = TEST_PY + "\n\ndef test_halve_odd():\n    assert halve(5) == 2.5\n"
TEST_PY_MARKS = """import pytest
from calc import add


def test_error_500_is_handled():
    assert add(2, 2) == 4


@pytest.mark.skip(reason="no network")
def test_failed_download():
    assert False


@pytest.mark.xfail
def test_known_bug():
    assert add(1, 1) == 3
"""
UNIT_PY = """import unittest
from calc import add, halve


class TestCalc(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(1, 2), 3)

    def test_halve(self):
        self.assertEqual(halve(4), 2)
"""
UNIT_PY_BAD = UNIT_PY + "\n    def test_odd(self):\n        self.assertEqual(halve(5), 2.5)\n\n    def test_missing(self):\n        halve(None)\n"
LIB_RS = """pub fn add(a: i32, b: i32) -> i32 {
    a + b
}

#[cfg(test)]
mod tests {
    #[test]
    fn adds() {
        assert_eq!(super::add(1, 2), 3);
    }

    #[test]
    #[ignore]
    fn slow() {}
}
"""
LIB_RS_BAD = LIB_RS.replace("== 3", "== 3").replace("fn slow() {}\n", "fn slow() {}\n\n    #[test]\n    fn adds_negative() {\n        assert_eq!(super::add(1, -2), 1);\n    }\n")
LIB_RS_DOC = "/// Adds.\n///\n/// ```\n/// assert_eq!(calc::add(1, 2), 3);\n/// ```\n" + LIB_RS
LIB_RS_BROKEN = 'pub fn add(a: i32, b: i32) -> i32 {\n    a + "b"\n}\n'
LIB_RS_LINT = "pub fn is_set(a: bool) -> bool {\n    if a == true { return true; } else { return false; }\n}\n"
CARGO = '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n'
GO_MOD = "module example.com/calc\n\ngo 1.19\n"
CALC_GO = "package calc\n\nfunc Add(a, b int) int {\n\treturn a + b\n}\n"
TEST_GO = 'package calc\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal("wrong")\n\t}\n}\n'
TEST_GO_BAD = TEST_GO + '\nfunc TestAddNegative(t *testing.T) {\n\tif got := Add(1, -2); got != 1 {\n\t\tt.Errorf("got %d, want 1", got)\n\t}\n}\n'
VET_GO = 'package calc\n\nimport "fmt"\n\nfunc Show(n int) {\n\tfmt.Printf("%s\\n", n)\n}\n'
CALC_JS = "exports.add = (a, b) => a + b;\nexports.halve = (n) => Math.floor(n / 2);\n"
JEST = "const { add, halve } = require('./calc');\ntest('adds', () => expect(add(1, 2)).toBe(3));\ntest('halves', () => expect(halve(4)).toBe(2));\ntest.skip('divides', () => {});\n"
JEST_BAD = JEST + "test('halves odd numbers', () => expect(halve(5)).toBe(2.5));\n"
VITEST = "import { expect, test } from 'vitest';\nimport { add } from './calc.mjs';\ntest('adds', () => expect(add(1, 2)).toBe(3));\ntest('adds zero', () => expect(add(1, 0)).toBe(1));\n"
VITEST_BAD = VITEST + "test('adds texts', () => expect(add('1', 2)).toBe(3));\n"
MOCHA = "const assert = require('assert');\nconst { add, halve } = require('../calc');\ndescribe('calc', () => {\n  it('adds', () => assert.equal(add(1, 2), 3));\n  it('halves', () => assert.equal(halve(4), 2));\n  it('divides');\n});\n"
MOCHA_BAD = MOCHA.replace("  it('divides');", "  it('halves odd numbers', () => assert.equal(halve(5), 2.5));")
NODE_TEST = "const test = require('node:test');\nconst assert = require('node:assert');\nconst { add } = require('./calc');\ntest('adds', () => assert.equal(add(1, 2), 3));\n"
NODE_TEST_BAD = NODE_TEST + "test('adds texts', () => assert.equal(add('1', 2), 3));\n"
AVA = "import test from 'ava';\ntest('adds', t => t.is(1 + 2, 3));\n"
AVA_BAD = AVA + "test('adds texts', t => t.is('1' + 2, 3));\n"
TAPE = "const test = require('tape');\ntest('adds', (t) => { t.equal(1 + 2, 3); t.end(); });\n"
TAPE_BAD = TAPE + "test('adds texts', (t) => { t.equal('1' + 2, 3); t.end(); });\n"
TS = "export function add(a: number, b: number): number {\n  return a + b;\n}\n"
TS_BAD = TS + "export const text: string = add(1, 2);\nadd('1');\n"
TSCONFIG = '{"compilerOptions": {"strict": true, "target": "es2020", "module": "commonjs", "noEmit": true, "types": []}, "include": ["src"]}\n'
ESLINT = "module.exports = [{ rules: { 'no-unused-vars': 'error', 'eqeqeq': 'warn' } }];\n"
RSPEC = "def add(a, b) = a + b\n\nRSpec.describe 'add' do\n  it('adds') { expect(add(1, 2)).to eq(3) }\n  it('adds zero') { expect(add(1, 0)).to eq(1) }\nend\n"
RSPEC_BAD = RSPEC.replace("\nend\n", "\n  it('adds texts') { expect(add('1', '2')).to eq(3) }\n  it('divides')\nend\n")
MINITEST = "require 'minitest/autorun'\n\nclass TestAdd < Minitest::Test\n  def test_adds\n    assert_equal 3, 1 + 2\n  end\n\n  def test_skipped\n    skip 'later'\n  end\nend\n"
MINITEST_BAD = MINITEST.replace("  def test_skipped\n    skip 'later'\n", "  def test_texts\n    assert_equal 3, '1' + '2'\n")
PHPUNIT = "<?php\nuse PHPUnit\\Framework\\TestCase;\n\nfinal class AddTest extends TestCase\n{\n    public function testAdds(): void\n    {\n        $this->assertSame(3, 1 + 2);\n    }\n}\n"
PHPUNIT_BAD = PHPUNIT.replace("}\n}\n", "}\n\n    public function testTexts(): void\n    {\n        $this->assertSame(3, '1' . '2');\n    }\n}\n")
CMAKE = "cmake_minimum_required(VERSION 3.10)\nproject(calc C)\nenable_testing()\nadd_executable(t t.c)\nadd_test(NAME adds COMMAND t 0)\nadd_test(NAME subtracts COMMAND t %d)\n"
T_C = "#include <stdlib.h>\nint main(int argc, char **argv) { return argc > 1 ? atoi(argv[1]) : 0; }\n"
MIX = 'defmodule Calc.MixProject do\n  use Mix.Project\n  def project, do: [app: :calc, version: "0.1.0", elixir: "~> 1.14"]\nend\n'
EXS = "defmodule CalcTest do\n  use ExUnit.Case\n  test \"adds\" do\n    assert 1 + 2 == 3\n  end\n%send\n"
BATS = "@test 'adds' {\n  [ $((1 + 2)) -eq 3 ]\n}\n%s"
PERL = "use Test::More tests => 2;\nok(1 + 2 == 3, 'adds');\nok(%s, 'subtracts');\n"

PY = {"calc.py": CALC_PY}
JS = {"calc.js": CALC_JS, "package.json": '{"name": "calc", "version": "1.0.0", "scripts": {"test": "jest", "lint": "eslint .", "build": "tsc -p ."}}\n'}

# Folder of a project, its files, and its commands: name, command, what is expected.
PROJECTS = [
    ("py-good", {**PY, "test_calc.py": TEST_PY}, [
        ("pytest, all pass", "pytest", "test passed passed=2 failed=0"),
        ("pytest -q, all pass", "pytest -q", "test passed passed=2 failed=0"),
        ("pytest -v, all pass", "python -m pytest -v", "test passed passed=2 failed=0"),
        ("pytest of one test", "pytest -q -k halve", "test passed passed=1 failed=0 deselected=1"),
        ("pytest, no test selected", "pytest -k nothing_like_this", "test no_run"),
        ("pytest, a file that is not there", "pytest tests/test_gone.py", "test no_run"),
        ("pytest with workers", "pytest -n 2 -q", "test passed passed=2 failed=0"),
        ("pytest with coverage", "pytest --cov=calc -q", "test passed passed=2 failed=0 coverage=100"),
        ("pytest, only collected", "pytest --collect-only -q", "test no_run?"),
        ("pytest through tail", "pytest | tail -1", "test passed passed=2"),
        ("pytest, output thrown away", "pytest -q > /dev/null 2>&1", "test passed"),
        ("pytest, output thrown away, told by echo", "pytest -q > /dev/null 2>&1; echo exit=$?", "test unknown|passed"),
        ("ruff check, clean", "ruff check .", "lint passed"),
        ("ruff and pytest in one line", "ruff check . && pytest -q", "lint passed; test passed passed=2 failed=0"),
        ("flake8, clean", "flake8 .", "lint passed"),
        ("mypy, clean", "mypy calc.py", "types passed"),
        ("pylint, complains about docstrings", "pylint calc.py", "lint failed"),
        ("black --check, formatted", "black --check .", "format passed"),
        ("pytest in a shell of its own", "bash -c 'pytest -q'", "test passed passed=2 failed=0"),
        ("pytest with a time limit and a variable", "env CI=1 timeout 60 pytest -q", "test passed passed=2 failed=0"),
        ("words about tests that another program prints", "echo '14 passed in 0.31s'", "none"),
        ("a search for the words of a runner", "grep -rn 'def test_' .", "none"),
        ("the version of a runner", "pytest --version", "test no_run?"),
    ]),
    ("py-bad", {**PY, "test_calc.py": TEST_PY_BAD}, [
        ("pytest, one fails", "pytest", "test failed passed=2 failed=1"),
        ("pytest -q, one fails", "pytest -q", "test failed passed=2 failed=1"),
        ("pytest, one fails, through tail", "pytest -q | tail -3", "test failed passed=2 failed=1"),
        ("pytest, one fails, only the last line", "pytest 2>&1 | tail -n 1", "test failed passed=2 failed=1"),
        ("pytest, one fails, hidden by true", "pytest -q || true", "test failed passed=2 failed=1"),
        ("pytest, one fails, and an echo after it", "pytest -q; echo done", "test failed passed=2 failed=1"),
        ("pytest, stops at the first failure", "pytest -x -q", "test failed passed=2 failed=1"),
        ("pytest without tracebacks", "pytest --tb=no -q", "test failed passed=2 failed=1"),
        ("pytest, one fails, seen by grep only", "pytest | grep -c PASSED", "test unknown|no_run"),
        ("pytest, the failing test left out", "pytest -q --deselect test_calc.py::test_halve_odd", "test passed passed=2 failed=0 deselected=1"),
        ("pytest, last failed", "pytest --lf -q", "test failed failed=1"),
        ("pytest, summary by grep", "pytest -q 2>&1 | grep -E 'passed|failed'", "test failed passed=2 failed=1"),
        ("tests fail before the linter starts", "pytest -q && ruff check .", "test failed passed=2 failed=1"),
        ("tests fail, the linter is clean", "pytest -q; ruff check .", "test failed passed=2 failed=1; lint passed"),
        ("pytest with short summary", "pytest -q -rA", "test failed passed=2 failed=1"),
        ("pytest --color=yes", "pytest -q --color=yes", "test failed passed=2 failed=1"),
        ("tests killed by a time limit", "timeout 0.05 pytest -q", "test failed|no_run|killed"),
    ]),
    ("py-marks", {**PY, "test_marks.py": TEST_PY_MARKS}, [
        ("pytest, names with error and failed", "pytest -v", "test passed passed=1 skipped=1 xfailed=1 failed=0"),
        ("pytest -q, skipped and expected to fail", "pytest -q", "test passed passed=1 skipped=1 xfailed=1 failed=0"),
    ]),
    ("py-error", {**PY, "test_calc.py": "from calc import subtract\n\n\ndef test_it():\n    assert subtract(1, 1) == 0\n"}, [
        ("pytest, a module that cannot be imported", "pytest", "test failed errors=1"),
        ("pytest -q, a module that cannot be imported", "pytest -q", "test failed errors=1"),
    ]),
    ("py-none", PY, [
        ("pytest, no tests", "pytest", "test no_run"),
        ("pytest, no tests, through tail", "pytest | tail -2", "test no_run"),
        ("unittest, no tests", "python -m unittest", "test no_run"),
    ]),
    ("py-unit", {**PY, "test_calc.py": UNIT_PY}, [
        ("unittest, all pass", "python -m unittest", "test passed total=2 failed=0"),
        ("unittest -v, all pass", "python -m unittest -v", "test passed total=2 failed=0"),
        ("unittest, one test", "python -m unittest test_calc.TestCalc.test_add", "test passed total=1"),
    ]),
    ("py-unit-bad", {**PY, "test_calc.py": UNIT_PY_BAD}, [
        ("unittest, a failure and an error", "python -m unittest", "test failed total=4 failed=1 errors=1"),
        ("unittest through tail", "python -m unittest 2>&1 | tail -1", "test failed failed=1 errors=1"),
    ]),
    ("py-lint", {"calc.py": "import os\nimport sys\n\ndef add(a,b):\n    x = 1\n    return a + b\n", "types_.py": "def add(a: int, b: int) -> int:\n    return str(a + b)\n\n\nadd('1', 2)\n"}, [
        ("ruff check, errors", "ruff check .", "lint failed errors=4"),
        ("ruff check, statistics", "ruff check --statistics .", "lint failed errors=4"),
        ("ruff check, errors, exit code thrown away", "ruff check . || true", "lint failed errors=4"),
        ("ruff check --exit-zero", "ruff check --exit-zero .", "lint failed errors=4"),
        ("ruff check, concise", "ruff check --output-format concise calc.py", "lint failed errors=4"),
        ("ruff format --check", "ruff format --check .", "format failed"),
        ("flake8, complaints", "flake8 calc.py", "lint failed"),
        ("flake8 --count", "flake8 --count calc.py", "lint failed"),
        ("mypy, errors", "mypy types_.py", "types failed errors=2"),
        ("mypy, errors, last line only", "mypy types_.py | tail -1", "types failed errors=2"),
        ("black --check, would reformat", "black --check calc.py", "format failed"),
        ("isort --check-only", "isort --check-only .", "format failed"),
        ("pylint, errors only", "pylint -E calc.py", "lint passed"),
        ("black rewrites", "black calc.py", "none"),
        ("ruff check --fix, what is left", "ruff check --fix .", "lint failed"),
    ]),
    ("rust-good", {"Cargo.toml": CARGO, "src/lib.rs": LIB_RS_DOC}, [
        ("cargo test, all pass", "cargo test", "test passed passed=2 failed=0 ignored=1"),
        ("cargo test -q, all pass", "cargo test --quiet", "test passed passed=2 failed=0 ignored=1"),
        ("cargo test, unit tests only", "cargo test --lib", "test passed passed=1 failed=0 ignored=1"),
        ("cargo test, filter that matches nothing", "cargo test --lib nothing_like_this", "test no_run"),
        ("cargo test through tail", "cargo test 2>&1 | tail -3", "test passed passed=1"),
        ("cargo test --no-run", "cargo test --no-run", "test no_run?"),
        ("cargo build", "cargo build", "build passed"),
        ("cargo check", "cargo check", "build|types passed"),
        ("cargo clippy, clean", "cargo clippy", "lint passed"),
        ("cargo fmt --check, formatted", "cargo fmt --check", "format passed"),
        ("cargo build -q", "cargo build -q", "build passed"),
    ]),
    ("rust-bad", {"Cargo.toml": CARGO, "src/lib.rs": LIB_RS_BAD}, [
        ("cargo test, one fails", "cargo test", "test failed passed=1 failed=1 ignored=1"),
        ("cargo test, one fails, through tail", "cargo test 2>&1 | tail -5", "test failed passed=1 failed=1"),
        ("cargo test, one fails, through grep", "cargo test 2>&1 | grep 'test result'", "test failed passed=1 failed=1"),
        ("cargo test, one fails, only lines with ok", "cargo test 2>/dev/null | grep ' ok$'", "test unknown|passed"),
        ("cargo test of one test", "cargo test adds -- --exact tests::adds", "test passed passed=1 failed=0"),
        ("cargo test, one fails, hidden", "cargo test -q || echo failed anyway", "test failed passed=1 failed=1"),
    ]),
    ("rust-broken", {"Cargo.toml": CARGO, "src/lib.rs": LIB_RS_BROKEN}, [
        ("cargo test, does not compile", "cargo test", "test failed|no_run"),
        ("cargo build, an error", "cargo build", "build failed errors=1"),
        ("cargo check, an error, through tail", "cargo check 2>&1 | tail -4", "build|types failed"),
        ("cargo clippy, an error", "cargo clippy", "lint failed"),
    ]),
    ("rust-lint", {"Cargo.toml": CARGO, "src/lib.rs": LIB_RS_LINT}, [
        ("cargo clippy, warnings", "cargo clippy", "lint passed|failed warnings=4"),
        ("cargo clippy, warnings denied", "cargo clippy -- -D warnings", "lint failed"),
        ("cargo fmt --check, differences", "cargo fmt --check", "format failed"),
        ("rustfmt --check, differences", "rustfmt --check src/lib.rs", "format failed"),
        ("cargo test, no tests", "cargo test", "test no_run"),
    ]),
    ("go-good", {"go.mod": GO_MOD, "calc.go": CALC_GO, "calc_test.go": TEST_GO, "cmd/calc/main.go": "package main\n\nfunc main() {}\n"}, [
        ("go test, all pass", "go test .", "test passed"),
        ("go test ./..., beside a package without tests", "go test ./...", "test passed"),
        ("go test -v, all pass", "go test -v .", "test passed passed=1 failed=0"),
        ("go test, cached", "go test .", "test passed"),
        ("go test -run, no test", "go test -run NothingLikeThis .", "test no_run"),
        ("go test, no test files at all", "go test ./cmd/...", "test no_run"),
        ("go build", "go build ./...", "build passed"),
        ("go vet, clean", "go vet ./...", "types|lint passed"),
        ("gofmt -l, formatted", "gofmt -l .", "format passed"),
        ("go test with coverage", "go test -cover .", "test passed coverage=100"),
    ]),
    ("go-bad", {"go.mod": GO_MOD, "calc.go": CALC_GO, "calc_test.go": TEST_GO_BAD}, [
        ("go test, one fails", "go test ./...", "test failed failed=1"),
        ("go test -v, one fails", "go test -v ./...", "test failed passed=1 failed=1"),
        ("go test, one fails, through tail", "go test ./... 2>&1 | tail -2", "test failed"),
        ("go test of the one that passes", "go test -run 'TestAdd$' .", "test passed"),
        ("go test, one fails, through grep for ok", "go test ./... | grep -c ok", "test unknown|no_run"),
    ]),
    ("go-vet", {"go.mod": GO_MOD, "calc.go": VET_GO, "bad.go": "package calc\nfunc Bad() int {\nreturn 1\n}\n"}, [
        ("go vet, complaints", "go vet ./...", "types|lint failed"),
        ("gofmt -l, a file", "gofmt -l .", "format failed"),
    ]),
    ("go-setup", {"go.mod": GO_MOD, "calc.go": CALC_GO, "calc_test.go": "package calc\n\nfunc broken( {\n"}, [("go test, set-up failed", "go test ./...", "test failed|no_run")]),
    ("go-broken", {"go.mod": GO_MOD, "calc.go": "package calc\n\nfunc Add() int {\n\treturn \"1\"\n}\n", "calc_test.go": TEST_GO}, [
        ("go build, an error", "go build ./...", "build failed"),
        ("go test, build failed", "go test ./...", "test failed|no_run"),
    ]),
    ("jest-good", {**JS, "calc.test.js": JEST}, [
        ("jest, all pass", "npx jest", "test passed passed=2 failed=0 skipped=1 total=3 suites=1"),
        ("npm test, all pass", "npm test", "test passed passed=2 failed=0 skipped=1"),
        ("jest, name that matches nothing", "npx jest -t 'nothing like this'", "test no_run"),
        ("jest, path that matches nothing", "npx jest widgets", "test no_run"),
        ("jest --silent through tail", "npx jest 2>&1 | tail -n 5", "test passed passed=2 skipped=1"),
        ("jest --coverage", "npx jest --coverage", "test passed passed=2 coverage=100"),
        ("npm run with a script that is not there", "npm run test:unit", "test no_run"),
        ("npx with a program that is not there", "npx --no-install cypress run", "test no_run?"),
    ]),
    ("jest-bad", {**JS, "calc.test.js": JEST_BAD}, [
        ("jest, one fails", "npx jest", "test failed passed=2 failed=1 skipped=1 total=4"),
        ("npm test, one fails", "npm test", "test failed passed=2 failed=1"),
        ("npx jest, one fails, an echo after it", "npx jest || echo done", "test failed passed=2 failed=1"),
        ("npm test --silent through tail", "npm test --silent 2>&1 | tail -6", "test failed passed=2 failed=1"),
        ("jest --verbose", "npx jest --verbose", "test failed passed=2 failed=1"),
    ]),
    ("jest-broken", {**JS, "calc.test.js": "const { add } = require('./gone');\ntest('adds', () => {});\n"}, [
        ("jest, suite that does not start", "npx jest", "test failed"),
    ]),
    ("vitest-good", {"calc.mjs": "export const add = (a, b) => a + b;\n", "calc.test.mjs": VITEST, "package.json": '{"name": "calc", "type": "module"}\n'}, [
        ("vitest run, all pass", "npx vitest run", "test passed passed=2 failed=0"),
        ("vitest run, no such file", "npx vitest run widgets", "test no_run"),
    ]),
    ("vitest-bad", {"calc.mjs": "export const add = (a, b) => a + b;\n", "calc.test.mjs": VITEST_BAD, "package.json": '{"name": "calc", "type": "module"}\n'}, [
        ("vitest run, one fails", "npx vitest run", "test failed passed=2 failed=1"),
        ("vitest run, one fails, through tail", "npx vitest run 2>&1 | tail -n 6", "test failed passed=2 failed=1"),
    ]),
    ("mocha-good", {"calc.js": CALC_JS, "test/calc.js": MOCHA}, [
        ("mocha, all pass, one pending", "npx mocha", "test passed passed=2 failed=0 skipped=1"),
        ("mocha, dots", "npx mocha --reporter dot", "test passed passed=2 failed=0 skipped=1"),
    ]),
    ("mocha-bad", {"calc.js": CALC_JS, "test/calc.js": MOCHA_BAD}, [
        ("mocha, one fails", "npx mocha", "test failed passed=2 failed=1"),
        ("mocha, tap", "npx mocha --reporter tap", "test failed passed=2 failed=1"),
    ]),
    ("node-good", {"calc.js": CALC_JS, "calc.test.js": NODE_TEST}, [
        ("node --test, all pass", "node --test", "test passed passed=1 failed=0"),
        ("node --test, spec", "node --test --test-reporter spec", "test passed passed=1 failed=0"),
    ]),
    ("node-bad", {"calc.js": CALC_JS, "calc.test.js": NODE_TEST_BAD}, [
        ("node --test, one fails", "node --test", "test failed passed=1 failed=1"),
        ("node --test, spec, one fails", "node --test --test-reporter spec", "test failed passed=1 failed=1"),
    ]),
    ("ava-good", {"test.js": AVA, "package.json": '{"name": "calc", "type": "module"}\n'}, [("ava, all pass", "npx ava", "test passed passed=1 failed=0")]),
    ("ava-bad", {"test.js": AVA_BAD, "package.json": '{"name": "calc", "type": "module"}\n'}, [("ava, one fails", "npx ava", "test failed failed=1")]),
    ("tape-good", {"test.js": TAPE}, [("tape, all pass", "npx tape test.js", "test passed passed=1 failed=0")]),
    ("tape-bad", {"test.js": TAPE_BAD}, [("tape, one fails", "npx tape test.js", "test failed passed=1 failed=1")]),
    ("ts-good", {"src/calc.ts": TS, "tsconfig.json": TSCONFIG, "package.json": '{"name": "calc", "scripts": {"build": "tsc -p .", "typecheck": "tsc --noEmit"}}\n'}, [
        ("tsc --noEmit, clean", "npx tsc --noEmit", "types passed"),
        ("tsc and an echo", "npx tsc --noEmit && echo OK", "types passed"),
        ("npm run build, passes", "npm run build", "build passed; types passed?"),
        ("npm run typecheck, passes", "npm run typecheck", "types passed"),
        ("npm run lint, no such script", "npm run lint", "lint no_run"),
        ("prettier --check, formatted", "npx prettier --check src", "format passed"),
    ]),
    ("ts-bad", {"src/calc.ts": TS_BAD, "tsconfig.json": TSCONFIG, "package.json": '{"name": "calc", "scripts": {"build": "tsc -p ."}}\n'}, [
        ("tsc --noEmit, errors", "npx tsc --noEmit", "types failed errors=2"),
        ("tsc, errors, through head", "npx tsc --noEmit | head -1", "types failed"),
        ("tsc --pretty", "npx tsc --noEmit --pretty", "types failed errors=2"),
        ("npm run build, errors", "npm run build", "build failed; types failed?"),
        ("tsc, errors, and an echo", "npx tsc --noEmit; echo exit: $?", "types failed errors=2"),
        ("prettier --check, differences", "npx prettier --check src", "format failed"),
    ]),
    ("eslint-good", {"calc.js": "console.log(1);\n", "eslint.config.js": ESLINT}, [
        ("eslint, clean", "npx eslint .", "lint passed"),
    ]),
    ("eslint-warn", {"calc.js": "if (1 == 2) console.log(1);\n", "eslint.config.js": ESLINT}, [
        ("eslint, a warning", "npx eslint .", "lint passed errors=0 warnings=1"),
        ("eslint, no warning allowed", "npx eslint . --max-warnings 0", "lint failed errors=0 warnings=1"),
    ]),
    ("eslint-bad", {"calc.js": "const unused = 1;\nif (1 == 2) console.log(1);\n", "eslint.config.js": ESLINT}, [
        ("eslint, an error and a warning", "npx eslint .", "lint failed errors=1 warnings=1"),
        ("eslint, compact through tail", "npx eslint . | tail -3", "lint failed errors=1 warnings=1"),
        ("biome lint, an unused variable", "npx biome lint calc.js", "lint failed"),
        ("biome format, spaces where tabs are wanted", "npx biome format calc.js", "format failed|passed"),
    ]),
    ("ruby-good", {"spec/add_spec.rb": RSPEC, "test_add.rb": MINITEST}, [
        ("rspec, all pass", "rspec", "test passed total=2 failed=0"),
        ("rspec, documentation", "rspec --format documentation", "test passed total=2 failed=0"),
        ("minitest, all pass, one skipped", "ruby test_add.rb", "test passed total=2 failed=0 skipped=1"),
    ]),
    ("ruby-bad", {"spec/add_spec.rb": RSPEC_BAD, "test_add.rb": MINITEST_BAD, "lint.rb": "def add a,b\n  return a+b\nend\n"}, [
        ("rspec, one fails, one pending", "rspec", "test failed total=4 failed=1 skipped=1"),
        ("rspec through tail, without its summary", "rspec | tail -3", "test failed|unknown"),
        ("minitest, one fails", "ruby test_add.rb", "test failed total=2 failed=1"),
        ("rubocop, offenses", "rubocop lint.rb", "lint failed"),
    ]),
    ("php-good", {"tests/AddTest.php": PHPUNIT}, [("phpunit, all pass", "phpunit tests", "test passed total=1"), ("phpunit --testdox", "phpunit --testdox tests", "test passed total=1")]),
    ("php-bad", {"tests/AddTest.php": PHPUNIT_BAD}, [("phpunit, one fails", "phpunit tests", "test failed total=2 failed=1"), ("phpunit, nothing matches", "phpunit --filter nothing tests", "test no_run")]),
    ("cmake-good", {"CMakeLists.txt": CMAKE % 0, "t.c": T_C}, [
        ("cmake --build", "cmake -S . -B build > /dev/null && cmake --build build", "build passed"),
        ("ctest, all pass", "ctest --test-dir build", "test passed failed=0 total=2"),
        ("ctest, nothing matches", "ctest --test-dir build -R nothing", "test no_run"),
    ]),
    ("cmake-bad", {"CMakeLists.txt": CMAKE % 3, "t.c": T_C}, [
        ("ctest, one fails", "cmake -S . -B build > /dev/null && cmake --build build > /dev/null && ctest --test-dir build", "test failed failed=1 total=2"),
        ("ctest, output on failure, through tail", "ctest --test-dir build --output-on-failure 2>&1 | tail -4", "test failed"),
    ]),
    ("make", {"Makefile": "all:\n\tgcc -o t t.c\n\ntest: all\n\t./t 0 && echo 'PASS: adds'\n\ncheck: all\n\t./t 3\n\nbroken:\n\tgcc -o u u.c\n", "t.c": T_C, "u.c": "int main( { return 0; }\n"}, [
        ("make", "make", "build passed"),
        ("make test, passes", "make test", "test passed"),
        ("make check, fails", "make check", "test failed"),
        ("make, no such target", "make tests", "test no_run|failed?"),
        ("make, an error of the compiler", "make broken", "build failed"),
        ("gcc, an error", "gcc -o u u.c", "build failed?"),
    ]),
    ("mix-good", {"mix.exs": MIX, "lib/calc.ex": "defmodule Calc do\nend\n", "test/test_helper.exs": "ExUnit.start()\n", "test/calc_test.exs": EXS % ""}, [("mix test, all pass", "mix test", "test passed total=1 failed=0")]),
    ("mix-bad", {"mix.exs": MIX, "lib/calc.ex": "defmodule Calc do\nend\n", "test/test_helper.exs": "ExUnit.start()\n", "test/calc_test.exs": EXS % "  test \"subtracts\" do\n    assert 3 - 2 == 2\n  end\n"}, [("mix test, one fails", "mix test", "test failed total=2 failed=1")]),
    ("bats-good", {"t.bats": BATS % ""}, [("bats, all pass", "bats t.bats", "test passed passed=1 failed=0")]),
    ("bats-bad", {"t.bats": BATS % "\n@test 'subtracts' {\n  [ $((3 - 2)) -eq 2 ]\n}\n"}, [("bats, one fails", "bats t.bats", "test failed passed=1 failed=1")]),
    ("perl-good", {"t/add.t": PERL % "1"}, [("prove, all pass", "prove", "test passed"), ("perl, TAP", "perl t/add.t", "test passed passed=2")]),
    ("perl-bad", {"t/add.t": PERL % "0"}, [("prove, one fails", "prove", "test failed failed=1"), ("perl, TAP, one fails", "perl t/add.t", "test failed passed=1 failed=1")]),
    ("shell", {"good.sh": "#!/bin/sh\necho \"$1\"\n", "bad.sh": "#!/bin/sh\necho $1\nread x\n", "ci.sh": "#!/bin/sh\nset -e\nruff check calc.py\npytest -q\n", "calc.py": CALC_PY, "test_calc.py": TEST_PY, "checker.py": "print('All tests passed!')\n"}, [
        ("shellcheck, clean", "shellcheck good.sh", "lint passed"),
        ("shellcheck, complaints", "shellcheck bad.sh", "lint failed"),
        ("a script that runs two checks", "sh ci.sh", "lint passed?; test passed passed=2"),
        ("a runner that is not installed", "gradle test", "test no_run"),
        ("a script that is not there", "./run-tests.sh", "test no_run?"),
        ("a directory that is not there", "cd nowhere && pytest -q", "test no_run|failed"),
    ]),
]


def record(name, command, folder, expected, environment):
    run = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=180)
    output = run.stdout.decode("utf-8", "replace")
    real = os.path.realpath(folder)
    for place in {folder, real}:
        output = output.replace(place, "/home/dev/calc")
    output = output.replace(os.path.dirname(real), "/home/dev").replace(os.path.expanduser("~") + "/", "/home/dev/")
    for prefix in environment["TRACE_STRIP"].split(":"):
        if prefix:
            output = output.replace(prefix, "/opt/tools")
    print(f"%%%% {name}")
    print(f"command: {command}")
    print(f"exit: {run.returncode}")
    for expectation in expected.split(";"):
        print(f"expect: {expectation.strip()}")
    escaped = output.replace("\\", "\\\\").replace("\x1b", "\\e").replace("\r", "\\r").replace("\t", "\\t")
    print("----")
    sys.stdout.write(escaped if escaped.endswith("\n") or not escaped else escaped + "\\c\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--node", help="folder node_modules with the runners of JavaScript")
    parser.add_argument("--python", help="folder with the programs of Python")
    parser.add_argument("--only", default="", help="only projects whose name contains this")
    arguments = parser.parse_args()
    path = os.environ["PATH"]
    if arguments.node:
        path = os.path.join(arguments.node, ".bin") + ":" + path
    if arguments.python:
        path = arguments.python + ":" + path
    strip = ":".join(filter(None, [arguments.node, arguments.python and os.path.dirname(arguments.python)]))
    environment = dict(os.environ, PATH=path, CARGO_TARGET_DIR="target", CARGO_TERM_COLOR="never", NO_COLOR="1",
                       FORCE_COLOR="0", TRACE_STRIP=strip, LC_ALL="C.UTF-8", CARGO_NET_OFFLINE="true", CI="")
    for variable in ("CI", "FORCE_COLOR", "RUSTFLAGS", "CARGO_BUILD_JOBS"):
        environment.pop(variable, None)
    print("# Recorded by record_outputs.py. See README.md.")
    for project, files, commands in PROJECTS:
        if arguments.only not in project:
            continue
        with tempfile.TemporaryDirectory() as top:
            folder = os.path.join(top, "calc")
            for file, content in files.items():
                place = os.path.join(folder, file)
                os.makedirs(os.path.dirname(place), exist_ok=True)
                with open(place, "w") as handle:
                    handle.write(content)
            if arguments.node and any(file.endswith((".js", ".mjs", ".ts")) for file in files):
                os.symlink(arguments.node, os.path.join(folder, "node_modules"))
            for name, command, expected in commands:
                sys.stderr.write(f"{project}: {command}\n")
                try:
                    record(name, command, folder, expected, environment)
                except subprocess.TimeoutExpired:
                    sys.stderr.write(f"{project}: {command}: no end after 180 seconds, left out\n")


if __name__ == "__main__":
    main()
