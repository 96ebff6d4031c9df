//! A file that a command writes into its writable folders is never started as an MCP server, and never decides how one
//! is started.
//!
//! Each attempt consists of the configuration of an MCP server and the files that a command leaves. In the first run,
//! the user trusts the folder, or the sandbox policy is full access. Then the planted program must run, because an
//! attempt that does not work proves nothing. In the second run it must not.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::timeout;
use trace_needs::{Need, skip};
use trace_protocol::Experimental;
use trace_runtime::provider::scripted::Scripted;
use trace_runtime::runtime::RuntimeOptions;
use trace_server::config::{CONFIG_FILE_NAME, ConfigStore};
use trace_server::outbound::OutboundPolicy;
use trace_server::services::{ServiceOptions, Variables};
use trace_server::transport::in_process::{Event, connect};
use trace_server::{Server, ServerOptions};

use crate::support::TIMEOUT;

/// An attempt to get a planted file executed.
struct Attempt {
    name: &'static str,
    /// Programs that the attempt requires.
    needs: &'static [&'static str],
    /// The table of the MCP server. `{work}` is the working folder, and `{safe}` is a folder that commands cannot write
    /// to.
    server: &'static str,
    /// The files that a command leaves: path and content. All of them are executable.
    left: &'static [(&'static str, &'static str)],
    /// Files of the user in `{safe}`.
    own: &'static [(&'static str, &'static str)],
    /// Symlinks of the user in `{safe}`.
    links: &'static [(&'static str, &'static str)],
    /// Further writable folders.
    roots: &'static [&'static str],
    /// Environment variables of the server.
    variables: &'static [(&'static str, &'static str)],
    /// Lines that the table has in addition in the first run.
    control: &'static str,
    /// Expected result of the second run.
    told: Told,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    /// The MCP server is not started. The text is a part of the reason.
    Refused(&'static str),
    /// The MCP server is started, but not from the planted files.
    Elsewhere,
}

const NOTHING: Attempt = Attempt {
    name: "",
    needs: &[],
    server: "",
    left: &[],
    own: &[],
    links: &[],
    roots: &[],
    variables: &[],
    control: "cwd = '.'",
    told: Told::Elsewhere,
};

/// A planted program. It creates the file `{mark}` when it runs.
const EVIL: &str = "#!/bin/sh\n: > \"{mark}\"\n";
const EVIL_JS: &str = "require('fs').writeFileSync('{mark}', '')\n";
const EVIL_PY: &str = "open('{mark}', 'w').close()\n";

/// A line of a `.pth` file, which Python executes.
const PTH: &str = "import sys; sys.path.insert(0, '{work}'); import docs_server\n";

/// A stand-in for `npx`, which first searches the package in the working folder and above it.
const NPX: &str = "#!/bin/sh\nfor word; do last=$word; done\nat=$PWD\n\
    while :; do\n  [ -x \"$at/node_modules/.bin/${last##*/}\" ] && exec \"$at/node_modules/.bin/${last##*/}\"\n\
    [ \"$at\" = / ] && exit 1\n  at=${at%/*}; at=${at:-/}\ndone\n";

/// A stand-in for version managers and runtimes that execute what a file in the working folder or above it names.
const FOLLOWS: &str = "#!/bin/sh\nat=$PWD\nwhile :; do\n  [ -f \"$at/$1\" ] && exec sh \"$at/$1\"\n  [ \"$at\" = / ] && exit 1\n\
    at=${at%/*}; at=${at:-/}\ndone\n";

const LINE: &str = "is writable for them";

const ATTEMPTS: &[Attempt] = &[
    Attempt {
        name: "a package in the working folder",
        server: "command = '{safe}/npx'\nargs = ['-y', '@example/docs-server']",
        own: &[("npx", NPX)],
        left: &[("node_modules/.bin/docs-server", EVIL)],
        ..NOTHING
    },
    Attempt {
        name: "a package in the working folder, by npm's own npx",
        needs: &["npx", "node"],
        server: "command = 'npx'\nargs = ['-y', '@example/docs-server']\nenv = { npm_config_offline = 'true' }",
        left: &[
            ("package.json", "{\"dependencies\":{\"@example/docs-server\":\"1.0.0\"}}"),
            (
                "node_modules/@example/docs-server/package.json",
                "{\"name\":\"@example/docs-server\",\"version\":\"1.0.0\",\"bin\":\"run.sh\"}",
            ),
            ("node_modules/@example/docs-server/run.sh", EVIL),
            ("node_modules/.bin/docs-server", EVIL),
        ],
        ..NOTHING
    },
    Attempt {
        name: ".npmrc that names a shell",
        needs: &["npx", "node"],
        server: "command = 'npx'\nargs = ['-c', 'true']\nenv = { npm_config_offline = 'true' }",
        left: &[("package.json", "{}"), (".npmrc", "script-shell={work}/shell\n"), ("shell", EVIL)],
        ..NOTHING
    },
    Attempt {
        name: ".npmrc with node-options",
        needs: &["npx", "node"],
        server: "command = 'npx'\nargs = ['-c', 'node -e 0']\nenv = { npm_config_offline = 'true' }",
        left: &[("package.json", "{}"), (".npmrc", "node-options=--require {work}/evil.js\n"), ("evil.js", EVIL_JS)],
        ..NOTHING
    },
    Attempt {
        name: "a script of package.json",
        needs: &["npm", "node"],
        server: "command = 'npm'\nargs = ['start']",
        left: &[("package.json", "{\"scripts\":{\"start\":\"sh evil\"}}"), ("evil", EVIL)],
        ..NOTHING
    },
    Attempt {
        name: "a module of node",
        needs: &["node"],
        server: "command = 'node'\nargs = ['-e', \"require('docs-server')\"]",
        left: &[("node_modules/docs-server/index.js", EVIL_JS)],
        ..NOTHING
    },
    Attempt {
        name: "a module of python",
        needs: &["python3"],
        server: "command = 'python3'\nargs = ['-m', 'docs_server']",
        left: &[("docs_server.py", EVIL_PY)],
        ..NOTHING
    },
    Attempt {
        name: "a module in the place of one of python's own",
        needs: &["python3"],
        server: "command = 'python3'\nargs = ['-c', 'import this']",
        left: &[("this.py", EVIL_PY)],
        ..NOTHING
    },
    Attempt {
        name: "sitecustomize by a relative PYTHONPATH",
        needs: &["python3"],
        server: "command = 'python3'\nargs = ['-c', '0']\nenv = { PYTHONPATH = '.' }",
        left: &[("sitecustomize.py", EVIL_PY), ("usercustomize.py", EVIL_PY)],
        ..NOTHING
    },
    Attempt {
        name: "a Makefile",
        needs: &["make"],
        server: "command = 'make'\nargs = ['serve']",
        left: &[("Makefile", "serve:\n\tsh ./evil\n"), ("evil", EVIL)],
        ..NOTHING
    },
    Attempt {
        name: "git, told by the folder's .git/config",
        needs: &["git"],
        server: "command = 'git'\nargs = ['status']",
        left: &[
            (".git/HEAD", "ref: refs/heads/main\n"),
            (".git/config", "[core]\nrepositoryformatversion = 0\nfsmonitor = {work}/evil\n"),
            (".git/objects/info/x", ""),
            (".git/refs/heads/x", ""),
            ("evil", EVIL),
        ],
        ..NOTHING
    },
    Attempt {
        name: ".envrc",
        server: "command = '{safe}/follows'\nargs = ['.envrc']",
        own: &[("follows", FOLLOWS)],
        left: &[(".envrc", EVIL)],
        ..NOTHING
    },
    Attempt {
        name: "mise.toml",
        server: "command = '{safe}/follows'\nargs = ['mise.toml']",
        own: &[("follows", FOLLOWS)],
        left: &[("mise.toml", EVIL)],
        ..NOTHING
    },
    Attempt {
        name: "pyproject.toml",
        server: "command = '{safe}/follows'\nargs = ['pyproject.toml']",
        own: &[("follows", FOLLOWS)],
        left: &[("pyproject.toml", EVIL)],
        ..NOTHING
    },
    Attempt {
        name: "deno.json",
        server: "command = '{safe}/follows'\nargs = ['deno.json']",
        own: &[("follows", FOLLOWS)],
        left: &[("deno.json", EVIL)],
        ..NOTHING
    },
    Attempt {
        name: "a configuration of cargo",
        server: "command = '{safe}/follows'\nargs = ['.cargo/config.toml']",
        own: &[("follows", FOLLOWS)],
        left: &[(".cargo/config.toml", EVIL)],
        ..NOTHING
    },
    Attempt {
        name: "a relative program",
        server: "command = './server'",
        left: &[("server", EVIL)],
        told: Told::Refused("`command` has the relative path `./server`"),
        ..NOTHING
    },
    Attempt {
        name: "a program in the folder",
        server: "command = '{work}/server'",
        left: &[("server", EVIL)],
        told: Told::Refused("`command` names"),
        ..NOTHING
    },
    Attempt {
        name: "a program behind a link",
        server: "command = '{safe}/server'",
        left: &[("server", EVIL)],
        links: &[("server", "{work}/server")],
        told: Told::Refused(LINE),
        ..NOTHING
    },
    Attempt {
        name: "a program whose interpreter is in the folder",
        server: "command = '{safe}/server'",
        own: &[("server", "#!{work}/bin/python\n")],
        left: &[("bin/python", "#!/bin/sh\n: > \"{mark}\"\n")],
        told: Told::Refused("the first line of `command` names"),
        ..NOTHING
    },
    Attempt {
        name: "a program by a configured PATH",
        server: "command = 'docs'\nenv = { PATH = '{work}/node_modules/.bin:/usr/bin:/bin' }",
        left: &[("node_modules/.bin/docs", EVIL)],
        told: Told::Refused("`env.PATH` names"),
        ..NOTHING
    },
    Attempt {
        name: "a program by a relative PATH",
        server: "command = 'docs'\nenv = { PATH = 'bin:/usr/bin:/bin' }",
        left: &[("bin/docs", EVIL)],
        told: Told::Refused("`env.PATH` has the relative path"),
        ..NOTHING
    },
    Attempt {
        name: "a program by the PATH of the server",
        server: "command = 'docs'",
        left: &[("bin/docs", EVIL)],
        variables: &[("PATH", "{work}/bin:/usr/bin:/bin")],
        told: Told::Refused("1 folders were left out"),
        ..NOTHING
    },
    Attempt {
        name: "what a program looks for in the PATH of the server",
        server: "command = 'sh'\nargs = ['-c', 'helper']",
        left: &[("bin/helper", EVIL)],
        variables: &[("PATH", "{work}/bin:/usr/bin:/bin")],
        ..NOTHING
    },
    Attempt {
        name: "a script in the folder",
        server: "command = 'sh'\nargs = ['{work}/server.sh']",
        left: &[("server.sh", EVIL)],
        told: Told::Refused("`args` names"),
        ..NOTHING
    },
    Attempt {
        name: "a script behind a link",
        server: "command = 'sh'\nargs = ['{safe}/link/server.sh']",
        left: &[("sub/server.sh", EVIL)],
        links: &[("link", "{work}/sub")],
        told: Told::Refused("`args` names"),
        ..NOTHING
    },
    Attempt {
        name: "a script in a line for a shell",
        server: "command = 'sh'\nargs = ['-c', 'true && exec \"{work}/server.sh\"']",
        left: &[("server.sh", EVIL)],
        told: Told::Refused("`args` names"),
        ..NOTHING
    },
    Attempt {
        name: "a script behind an option",
        needs: &["node"],
        server: "command = 'node'\nargs = ['--require={work}/evil.js', '-e', '0']",
        left: &[("evil.js", EVIL_JS)],
        told: Told::Refused("`args` names"),
        ..NOTHING
    },
    Attempt {
        name: "a script as an address",
        needs: &["node"],
        server: "command = 'node'\nargs = ['--import', 'file://{work}/evil.mjs', '-e', '0']",
        left: &[("evil.mjs", "import fs from 'fs'; fs.writeFileSync('{mark}', '')\n")],
        told: Told::Refused("`args` names"),
        ..NOTHING
    },
    Attempt {
        name: "a script below the home folder",
        server: "command = 'sh'\nargs = ['-c', 'exec sh ~/project/server.sh']\nenv = { HOME = '{safe}/user' }",
        links: &[("user/project", "{work}")],
        left: &[("server.sh", EVIL)],
        told: Told::Refused("`args` names"),
        ..NOTHING
    },
    Attempt {
        name: "the folder as working folder",
        server: "command = '{safe}/npx'\nargs = ['docs-server']\ncwd = '{work}/sub'",
        own: &[("npx", NPX)],
        left: &[("node_modules/.bin/docs-server", EVIL), ("sub/x", "")],
        control: "",
        told: Told::Refused("`cwd` names"),
        ..NOTHING
    },
    Attempt {
        name: "a relative working folder",
        server: "command = '{safe}/npx'\nargs = ['docs-server']\ncwd = 'sub'",
        own: &[("npx", NPX)],
        left: &[("node_modules/.bin/docs-server", EVIL), ("sub/x", "")],
        control: "",
        told: Told::Refused("`cwd` names"),
        ..NOTHING
    },
    Attempt {
        name: "a working folder behind a link",
        server: "command = 'sh'\nargs = ['-c', './server']\ncwd = '{safe}/into'",
        left: &[("sub/server", EVIL)],
        links: &[("into", "{work}/sub")],
        control: "",
        told: Told::Refused("`cwd` names"),
        ..NOTHING
    },
    Attempt {
        name: "a working folder with an open folder of modules above it",
        server: "command = '{safe}/npx'\nargs = ['docs-server']\ncwd = '{safe}/project'",
        own: &[("npx", NPX), ("project/x", ""), ("node_modules/x", "")],
        left: &[("{safe}/node_modules/.bin/docs-server", EVIL)],
        roots: &["{safe}/node_modules"],
        control: "",
        told: Told::Refused("`cwd` names"),
        ..NOTHING
    },
    Attempt {
        name: "NODE_OPTIONS",
        needs: &["node"],
        server: "command = 'node'\nargs = ['-e', '0']\nenv = { NODE_OPTIONS = '--require {work}/evil.js' }",
        left: &[("evil.js", EVIL_JS)],
        told: Told::Refused("`env.NODE_OPTIONS` names"),
        ..NOTHING
    },
    Attempt {
        name: "PYTHONPATH that is passed on",
        needs: &["python3"],
        server: "command = 'python3'\nargs = ['-c', '0']\nenv_vars = ['PYTHONPATH']",
        left: &[("sitecustomize.py", EVIL_PY)],
        variables: &[("PYTHONPATH", "{safe}/lib:{work}")],
        told: Told::Refused("the variable PYTHONPATH names"),
        ..NOTHING
    },
    Attempt {
        name: "BASH_ENV",
        server: "command = '/bin/bash'\nargs = ['-c', 'true']\nenv = { BASH_ENV = '{work}/env.sh' }",
        left: &[("env.sh", EVIL)],
        told: Told::Refused("`env.BASH_ENV` names"),
        ..NOTHING
    },
    Attempt {
        name: "a home folder that is open",
        server: "command = '/bin/bash'\nargs = ['-lc', 'true']",
        left: &[(".profile", EVIL)],
        variables: &[("HOME", "{work}")],
        told: Told::Refused("the variable HOME names"),
        ..NOTHING
    },
    Attempt {
        name: "a cache of npm in the home folder",
        server: "command = 'sh'\nargs = ['-c', 'exec \"$HOME/.npm/_npx/1/node_modules/.bin/docs\"']",
        own: &[("user/.npm/x", "")],
        left: &[("{safe}/user/.npm/_npx/1/node_modules/.bin/docs", EVIL)],
        roots: &["{safe}/user/.npm"],
        variables: &[("HOME", "{safe}/user")],
        told: Told::Refused(LINE),
        ..NOTHING
    },
    Attempt {
        name: "a part of a cache in the home folder",
        server: "command = 'sh'\nargs = ['-c', 'exec \"$(ls $XDG_CACHE_HOME/uv/*/docs)\"']\nenv = { XDG_CACHE_HOME = '{safe}/cache' }",
        own: &[("cache/uv/1/x", "")],
        left: &[("{safe}/cache/uv/1/docs", EVIL)],
        roots: &["{safe}/cache/uv/1"],
        told: Told::Refused("`env.XDG_CACHE_HOME` names"),
        ..NOTHING
    },
    Attempt {
        name: "a cache in the folder for temporary files",
        server: "command = 'sh'\nargs = ['-c', 'exec \"$TMPDIR/cache/docs\"']",
        left: &[("cache/docs", EVIL)],
        variables: &[("TMPDIR", "{work}")],
        control: "env = { TMPDIR = '{work}' }",
        ..NOTHING
    },
    Attempt {
        name: "a folder that links to the modules of a working folder",
        server: "command = '{safe}/npx'\nargs = ['docs-server']\ncwd = '{safe}/project'",
        own: &[("npx", NPX), ("project/x", "")],
        links: &[("project/node_modules", "{work}")],
        left: &[(".bin/docs-server", EVIL)],
        control: "",
        told: Told::Refused("`cwd` names"),
        ..NOTHING
    },
    Attempt {
        name: "a linked package in the modules of a working folder",
        needs: &["node"],
        server: "command = 'node'\nargs = ['-e', \"require('docs-server')\"]\ncwd = '{safe}/project'",
        own: &[("project/node_modules/other/index.js", "")],
        links: &[("project/node_modules/docs-server", "{work}")],
        left: &[("index.js", EVIL_JS)],
        control: "",
        told: Told::Refused("`cwd` names"),
        ..NOTHING
    },
    Attempt {
        name: "a linked package of a scope in the modules beside a script",
        needs: &["node"],
        server: "command = 'node'\nargs = ['{safe}/project/server.js']",
        own: &[("project/node_modules/@mine/other/index.js", ""), ("project/server.js", "require('@mine/docs')\n")],
        links: &[("project/node_modules/@mine/docs", "{work}")],
        left: &[("index.js", EVIL_JS)],
        told: Told::Refused("`args` names"),
        ..NOTHING
    },
    Attempt {
        name: "a project that is a word, with linked modules",
        needs: &["node"],
        server: "command = 'node'\nargs = ['{safe}/project']",
        own: &[("project/index.js", "require('docs')\n"), ("project/x", "")],
        links: &[("project/node_modules", "{work}")],
        left: &[("docs/index.js", EVIL_JS)],
        told: Told::Refused("`args` names"),
        ..NOTHING
    },
    Attempt {
        name: "a link in a folder of PYTHONPATH",
        needs: &["python3"],
        server: "command = 'python3'\nargs = ['-m', 'docs']\nenv = { PYTHONPATH = '{safe}/lib' }",
        own: &[("lib/other.py", "")],
        links: &[("lib/docs.py", "{work}/docs.py")],
        left: &[("docs.py", EVIL_PY)],
        told: Told::Refused("`env.PYTHONPATH` names"),
        ..NOTHING
    },
    Attempt {
        name: "a package that is installed for editing",
        needs: &["python3"],
        server: "command = 'python3'\nargs = ['-m', 'docs_server']\nenv = { PYTHONPATH = '{safe}/lib', PYTHONUSERBASE = '{safe}/base' }",
        own: &[
            ("lib/sitecustomize.py", "import site\nsite.addsitedir('{safe}/lib')\n"),
            ("lib/__editable__.docs.pth", "{work}\n"),
        ],
        left: &[("docs_server.py", EVIL_PY)],
        told: Told::Refused("`env.PYTHONPATH` names"),
        ..NOTHING
    },
    Attempt {
        name: "PERL5LIB",
        needs: &["perl"],
        server: "command = 'perl'\nargs = ['-MDocs', '-e', '0']\nenv = { PERL5LIB = '{safe}/lib' }",
        own: &[("lib/Other.pm", "1;\n")],
        links: &[("lib/Docs.pm", "{work}/Docs.pm")],
        left: &[("Docs.pm", "open(my $f, '>', '{mark}'); 1;\n")],
        told: Told::Refused("`env.PERL5LIB` names"),
        ..NOTHING
    },
    Attempt {
        name: "a shell whose start-up file is a link",
        server: "command = '/bin/bash'\nargs = ['-lc', 'true']",
        links: &[("user/.bash_profile", "{work}/profile")],
        left: &[("profile", EVIL)],
        variables: &[("HOME", "{safe}/user")],
        told: Told::Refused("the variable HOME names"),
        ..NOTHING
    },
    Attempt {
        name: "a shell that reads the file of a variable",
        server: "command = '/bin/sh'\nargs = ['-ic', 'true']\nenv = { ENV = '{safe}/rc' }",
        links: &[("rc", "{work}/rc")],
        left: &[("rc", EVIL)],
        told: Told::Refused("`env.ENV` names"),
        ..NOTHING
    },
    Attempt {
        name: "a line that changes the folder",
        server: "command = 'sh'\nargs = ['-c', 'cd; exec sh ../../work/server.sh']\nenv = { HOME = '{safe}/user' }",
        left: &[("server.sh", EVIL)],
        told: Told::Refused("`args` names"),
        ..NOTHING
    },
    Attempt {
        name: "a line that changes the folder twice",
        server: "command = 'sh'\nargs = ['-c', 'cd {safe} && cd link && exec sh server.sh']",
        links: &[("link", "{work}")],
        left: &[("server.sh", EVIL)],
        told: Told::Refused("`args` names"),
        ..NOTHING
    },
    Attempt {
        name: "a bare word that is a link in the working folder",
        server: "command = 'sh'\nargs = ['server.sh']\ncwd = '{safe}/project'",
        own: &[("project/x", "")],
        links: &[("project/server.sh", "{work}/server.sh")],
        left: &[("server.sh", EVIL)],
        control: "",
        told: Told::Refused("`cwd` names"),
        ..NOTHING
    },
    Attempt {
        name: "a variable with a relative path",
        needs: &["python3"],
        server: "command = 'python3'\nargs = ['-m', 'docs']\ncwd = '{safe}/project'\nenv = { PYTHONPATH = './lib' }",
        own: &[("project/x", "")],
        links: &[("project/lib", "{work}")],
        left: &[("docs.py", EVIL_PY)],
        control: "",
        told: Told::Refused("`cwd` names"),
        ..NOTHING
    },
    Attempt {
        name: "a configuration of npm above a script, behind a link",
        needs: &["node"],
        server: "command = 'sh'\nargs = ['-c', 'cd {safe}/project && exec sh ./.envrc']",
        own: &[("project/x", "")],
        links: &[("project/.envrc", "{work}/envrc")],
        left: &[("envrc", EVIL)],
        told: Told::Refused("`args` names"),
        ..NOTHING
    },
    Attempt {
        name: "a module named by a virtual environment whose python is a link",
        needs: &["python3"],
        server: "command = '{safe}/venv/bin/python'\nargs = ['-m', 'docs_server']\nenv = { PYTHONPATH = '{safe}/venv/lib/python3.12/site-packages' }",
        own: &[
            ("venv/bin/x", ""),
            ("venv/pyvenv.cfg", "home = /usr/bin\n"),
            ("venv/lib/python3.12/site-packages/__editable__.docs.pth", "{work}\n"),
            ("venv/lib/python3.12/site-packages/sitecustomize.py", "import sys\nsys.path.append('{work}')\n"),
        ],
        links: &[("venv/bin/python", "{python}")],
        left: &[("docs_server.py", EVIL_PY)],
        told: Told::Refused(LINE),
        ..NOTHING
    },
    Attempt {
        name: "a script behind a quoted home",
        server: "command = 'sh'\nargs = ['-c', 'exec sh \"$HOME\"/project/server.sh']\nenv = { HOME = '{safe}/user' }",
        links: &[("user/project", "{work}")],
        left: &[("server.sh", EVIL)],
        told: Told::Refused("`args` names"),
        ..NOTHING
    },
    Attempt {
        name: "a script in a folder with signs in its name",
        server: "command = 'sh'\nargs = ['-c', 'exec sh {safe}/a+b/server.sh']",
        own: &[("x", "")],
        roots: &["{safe}/a+b"],
        left: &[("{safe}/a+b/server.sh", EVIL)],
        told: Told::Refused("`args` names"),
        ..NOTHING
    },
    Attempt {
        name: "a script in a folder with a blank in its name",
        server: "command = 'sh'\nargs = ['-c', 'exec sh \"{safe}/my project/server.sh\"']",
        own: &[("x", "")],
        roots: &["{safe}/my project"],
        left: &[("{safe}/my project/server.sh", EVIL)],
        told: Told::Refused("`args` names"),
        ..NOTHING
    },
    Attempt {
        name: "a module path in a folder with signs in its name",
        needs: &["python3"],
        server: "command = 'python3'\nargs = ['-m', 'docs']\nenv = { PYTHONPATH = '{safe}:{safe}/c++' }",
        own: &[("x", "")],
        roots: &["{safe}/c++"],
        left: &[("{safe}/c++/docs.py", EVIL_PY)],
        told: Told::Refused("`env.PYTHONPATH` names"),
        ..NOTHING
    },
    Attempt {
        name: "a module below the working folder",
        needs: &["python3"],
        server: "command = 'python3'\nargs = ['-m', 'src.server']\ncwd = '{safe}/project'",
        own: &[("project/src/__init__.py", "")],
        roots: &["{safe}/project/src"],
        left: &[("{safe}/project/src/server.py", EVIL_PY)],
        control: "",
        told: Told::Refused("`cwd` names"),
        ..NOTHING
    },
    Attempt {
        name: "the main file below a folder that is a word",
        needs: &["node"],
        server: "command = 'node'\nargs = ['{safe}/project']",
        own: &[("project/package.json", "{\"main\":\"dist/index.js\"}"), ("project/dist/x", "")],
        roots: &["{safe}/project/dist"],
        left: &[("{safe}/project/dist/index.js", EVIL_JS)],
        told: Told::Refused("`args` names"),
        ..NOTHING
    },
    Attempt {
        name: "a module below the folder of a script",
        needs: &["node"],
        server: "command = 'node'\nargs = ['{safe}/project/server.js']",
        own: &[("project/server.js", "require('./lib/docs')\n"), ("project/lib/x", "")],
        roots: &["{safe}/project/lib"],
        left: &[("{safe}/project/lib/docs.js", EVIL_JS)],
        told: Told::Refused("`args` names"),
        ..NOTHING
    },
    Attempt {
        name: "a script below the folder of a program",
        server: "command = '{safe}/project/server'",
        own: &[("project/server", "#!/bin/sh\nexec sh \"${0%/*}/src/run.sh\"\n"), ("project/src/x", "")],
        roots: &["{safe}/project/src"],
        left: &[("{safe}/project/src/run.sh", EVIL)],
        told: Told::Refused("`command` names"),
        ..NOTHING
    },
    Attempt {
        name: "a script in the project of a program",
        server: "command = '{safe}/project/bin/server'",
        own: &[
            ("project/package.json", "{}"),
            ("project/bin/server", "#!/bin/sh\nexec sh \"${0%/*}/../src/run.sh\"\n"),
            ("project/src/x", ""),
        ],
        roots: &["{safe}/project/src"],
        left: &[("{safe}/project/src/run.sh", EVIL)],
        told: Told::Refused("`command` names"),
        ..NOTHING
    },
    Attempt {
        name: "a Makefile below the folder of another",
        needs: &["make"],
        server: "command = 'make'\nargs = ['-C', '{safe}/project']",
        own: &[("project/Makefile", "all:\n\t$(MAKE) -C sub\n"), ("project/sub/x", "")],
        roots: &["{safe}/project/sub"],
        left: &[("{safe}/project/sub/Makefile", "all:\n\t: > {mark}\n")],
        told: Told::Refused("`args` names"),
        ..NOTHING
    },
    Attempt {
        name: "a link beside a script",
        needs: &["python3"],
        server: "command = 'python3'\nargs = ['{safe}/project/server.py']",
        own: &[("project/server.py", "import docs\n")],
        links: &[("project/docs.py", "{work}/docs.py")],
        left: &[("docs.py", EVIL_PY)],
        told: Told::Refused("`args` names"),
        ..NOTHING
    },
    Attempt {
        name: "packages of a folder to install into",
        needs: &["python3"],
        server: "command = 'python3'\nargs = ['-m', 'docs_server']\nenv = { PYTHONUSERBASE = '{safe}/base' }",
        own: &[
            ("base/lib/python3.8/site-packages/docs.pth", "{work}\n"),
            ("base/lib/python3.9/site-packages/docs.pth", "{work}\n"),
            ("base/lib/python3.10/site-packages/docs.pth", "{work}\n"),
            ("base/lib/python3.11/site-packages/docs.pth", "{work}\n"),
            ("base/lib/python3.12/site-packages/docs.pth", "{work}\n"),
            ("base/lib/python3.13/site-packages/docs.pth", "{work}\n"),
            ("base/lib/python3.14/site-packages/docs.pth", "{work}\n"),
            ("base/lib/python3.15/site-packages/docs.pth", "{work}\n"),
        ],
        left: &[("docs_server.py", EVIL_PY)],
        told: Told::Refused("`env.PYTHONUSERBASE` names"),
        ..NOTHING
    },
    Attempt {
        name: "a line of code among the packages of the user",
        needs: &["python3"],
        server: "command = 'python3'\nargs = ['-c', '0']",
        own: &[
            ("user/.local/lib/python3.8/site-packages/docs.pth", PTH),
            ("user/.local/lib/python3.9/site-packages/docs.pth", PTH),
            ("user/.local/lib/python3.10/site-packages/docs.pth", PTH),
            ("user/.local/lib/python3.11/site-packages/docs.pth", PTH),
            ("user/.local/lib/python3.12/site-packages/docs.pth", PTH),
            ("user/.local/lib/python3.13/site-packages/docs.pth", PTH),
            ("user/.local/lib/python3.14/site-packages/docs.pth", PTH),
            ("user/.local/lib/python3.15/site-packages/docs.pth", PTH),
        ],
        left: &[("docs_server.py", EVIL_PY)],
        told: Told::Refused("the variable HOME names"),
        ..NOTHING
    },
    Attempt {
        name: "a link in PATH that another program starts",
        server: "command = 'env'\nargs = ['A=1', 'docs-server']\nenv = { PATH = '{safe}/bin:/usr/bin:/bin' }",
        own: &[("bin/x", "")],
        links: &[("bin/docs-server", "{work}/docs-server")],
        left: &[("docs-server", EVIL)],
        told: Told::Refused("`args` names"),
        ..NOTHING
    },
    Attempt {
        name: "a program that env looks up for a script",
        server: "command = 'docs'\nenv = { PATH = '{safe}/bin:/usr/bin:/bin' }",
        own: &[("bin/docs", "#!/usr/bin/env docs-runner\n")],
        links: &[("bin/docs-runner", "{work}/docs-runner")],
        left: &[("docs-runner", EVIL)],
        told: Told::Refused("the first line of `command` names"),
        ..NOTHING
    },
    Attempt {
        name: "a linked package that all projects share",
        needs: &["npx", "node"],
        server: "command = 'npx'\nargs = ['docs-server']\nenv = { npm_config_offline = 'true' }",
        own: &[("user/.npmrc", "prefix={safe}/global\n"), ("global/lib/node_modules/x", ""), ("global/bin/x", "")],
        links: &[
            ("global/lib/node_modules/docs-server", "{work}"),
            ("global/bin/docs-server", "../lib/node_modules/docs-server/run.sh"),
        ],
        left: &[
            ("package.json", "{\"name\":\"docs-server\",\"version\":\"1.0.0\",\"bin\":{\"docs-server\":\"run.sh\"}}"),
            ("run.sh", EVIL),
        ],
        told: Told::Refused("`args` names"),
        ..NOTHING
    },
    Attempt {
        name: "a shell that the user's configuration of npm names",
        needs: &["npx", "node"],
        server: "command = 'npx'\nargs = ['-c', 'true']\nenv = { npm_config_offline = 'true' }",
        own: &[("user/.npmrc", "script-shell={work}/shell\n")],
        left: &[("shell", EVIL)],
        told: Told::Refused("a line of ~/.npmrc names"),
        ..NOTHING
    },
    Attempt {
        name: "a file that the user's configuration of Git includes",
        needs: &["git"],
        server: "command = 'git'\nargs = ['docs']",
        own: &[("user/.gitconfig", "[include]\npath = {work}/more\n")],
        left: &[("more", "[alias]\ndocs = !touch {mark}\n")],
        told: Told::Refused("a line of the user's configuration of Git names"),
        ..NOTHING
    },
    Attempt {
        name: "the programs of a version manager",
        server: "command = '{safe}/shims/python'",
        own: &[("shims/python", "#!/bin/sh\nexec sh ~/.rye/self\n"), ("user/.rye/x", "")],
        roots: &["{safe}/user/.rye"],
        left: &[("{safe}/user/.rye/self", EVIL)],
        told: Told::Refused("the variable HOME names"),
        ..NOTHING
    },
    Attempt {
        name: "a script by a pattern",
        server: "command = 'sh'\nargs = ['-c', 'exec sh {safe}/op?n/s*.sh']",
        own: &[("open/x", "")],
        roots: &["{safe}/open"],
        left: &[("{safe}/open/server.sh", EVIL)],
        told: Told::Refused("`args` names"),
        ..NOTHING
    },
    Attempt {
        name: "a script by braces",
        server: "command = '/bin/bash'\nargs = ['-c', 'exec sh {safe}/{open,x}/server.sh']",
        own: &[("open/x", "")],
        roots: &["{safe}/open"],
        left: &[("{safe}/open/server.sh", EVIL)],
        told: Told::Refused("`args` names"),
        ..NOTHING
    },
    Attempt {
        name: "a script as an encoded address",
        needs: &["node"],
        server: "command = 'node'\nargs = ['--import', 'file://{safe}/op%65n/evil.mjs', '-e', '0']",
        own: &[("open/x", "")],
        roots: &["{safe}/open"],
        left: &[("{safe}/open/evil.mjs", "import fs from 'fs'; fs.writeFileSync('{mark}', '')\n")],
        told: Told::Refused("`args` names"),
        ..NOTHING
    },
    Attempt {
        name: "a home of the server that is open",
        server: "command = '{safe}/npx'\nargs = ['docs-server']",
        own: &[("npx", NPX)],
        left: &[("{home}/node_modules/.bin/docs-server", EVIL)],
        roots: &["{home}"],
        control: "cwd = '{home}'",
        told: Told::Refused("the home folder"),
        ..NOTHING
    },
];

/// The folders of an attempt.
struct Scene {
    folder: TempDir,
    attempt: &'static Attempt,
}

impl Scene {
    fn new(attempt: &'static Attempt) -> Self {
        let scene = Self { folder: tempfile::tempdir().expect("a folder"), attempt };
        for name in ["home", "work", "safe/user"] {
            fs::create_dir_all(scene.at(name)).expect("a folder");
        }
        for (path, text) in attempt.own {
            scene.write(&scene.at("safe").join(path), text);
        }
        for (link, target) in attempt.links {
            symlink(scene.filled(target), scene.at("safe").join(link)).expect("a link");
        }
        for (path, text) in attempt.left {
            scene.write(&scene.at("work").join(scene.filled(path)), text);
        }
        scene
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().expect("a path").join(name)
    }

    fn filled(&self, text: &str) -> String {
        let words = ["home", "work", "safe", "mark"];
        let text = text.replace("{python}", "/usr/bin/python3");
        words
            .iter()
            .fold(text, |text, word| text.replace(&format!("{{{word}}}"), self.at(word).to_str().expect("text")))
    }

    fn write(&self, path: &Path, text: &str) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, self.filled(text)).expect("writes");
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("can be set");
    }

    fn was_started(&self) -> bool {
        let mark = self.at("mark");
        let was_started = mark.exists();
        let _ = fs::remove_file(mark);
        was_started
    }

    /// Starts a server and a thread with a sandbox mode. Returns why the MCP server did not start, or an empty text.
    async fn start(&self, mode: &str, more: &str) -> String {
        self.start_threads(&[mode], more).await
    }

    /// Does the same with several threads of one server, one after the other. Returns the result of the last one.
    async fn start_threads(&self, modes: &[&str], more: &str) -> String {
        let roots: Vec<String> = self.attempt.roots.iter().map(|root| self.filled(root)).collect();
        let config = format!(
            "model_provider = 'scripted'\n[sandbox_workspace_write]\nexclude_slash_tmp = true\n\
             writable_roots = {}\n[mcp_servers.planted]\nstartup_timeout_sec = 60\n{}\n{}\n",
            json!(roots),
            self.filled(self.attempt.server),
            self.filled(more)
        );
        fs::write(self.at("home").join(CONFIG_FILE_NAME), config).expect("the file system works");
        let configuration = Arc::new(ConfigStore::open(&self.at("home"), &[]).expect("a configuration"));
        let runtime = RuntimeOptions::new(vec![Arc::new(Scripted::new())], Vec::new());
        let own: Vec<(String, String)> =
            self.attempt.variables.iter().map(|(name, value)| ((*name).to_owned(), self.filled(value))).collect();
        let user = self.at("safe/user");
        let variables = Variables::new(move |name| match own.iter().find(|(own, _)| own == name) {
            Some((_, value)) => Some(value.into()),
            None if name == "HOME" => Some(user.clone().into()),
            None if name == "PATH" => std::env::var_os("PATH"),
            None => None,
        });
        let services =
            ServiceOptions { cwd: self.at("work"), configuration, launcher: None, variables, tokens: Arc::default() };
        let options = ServerOptions { home: self.at("home"), runtime, traces: None, services };
        let server = Server::start(options).expect("a server");
        let (client, mut events) = connect(server.opener(), OutboundPolicy::Wait);
        client.initialize("test", "1", Experimental::Enabled).await.expect("it goes on");
        let mut why = String::new();
        for mode in modes {
            client.request("thread/start", &json!({ "sandbox": mode })).await.expect("a thread");
            why = loop {
                let event = timeout(TIMEOUT, events.next()).await.expect("something happens").expect("a connection");
                let Event::Notification { method, params } = event else { continue };
                let params: Value = serde_json::from_str(params.expect("params").get()).expect("JSON");
                if method == "mcpServer/startupStatus/updated" && params["status"] != "starting" {
                    break params["error"].to_string();
                }
            };
        }
        server.shutdown().await;
        why
    }
}

fn is_there(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[tokio::test]
async fn nothing_that_a_command_left_is_started() {
    let mut failures = Vec::new();
    for attempt in ATTEMPTS {
        if let Some(missing) = attempt.needs.iter().find(|program| !is_there(program)) {
            let need = match *missing {
                "node" | "npx" => Need::Node,
                "python3" => Need::Python,
                _ => Need::Programs,
            };
            skip(need, format_args!("the attempt `{}`, without {missing}", attempt.name));
            continue;
        }
        let scene = Scene::new(attempt);
        let why = scene.start("danger-full-access", attempt.control).await;
        if !scene.was_started() {
            failures.push(format!("`{}` proves nothing: it does not run where nobody is bound: {why}", attempt.name));
        }
        let why = scene.start("workspace-write", "").await;
        if scene.was_started() {
            failures.push(format!("`{}` was started: {why}", attempt.name));
        }
        if let Told::Refused(expected) = attempt.told
            && !why.contains(expected)
        {
            failures.push(format!("`{}` does not say {expected:?}: {why}", attempt.name));
        }
        if attempt.told == Told::Elsewhere && why.contains(LINE) {
            failures.push(format!("`{}` is refused: {why}", attempt.name));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[tokio::test]
async fn servers_start_from_folders_that_the_user_trusts() {
    let find = |name: &str| ATTEMPTS.iter().find(|attempt| attempt.name == name).expect("an attempt");
    for (name, trusted, expected) in [
        ("a script in the folder", "['.']", true),
        ("a script in the folder", "['{work}']", true),
        ("a script in the folder", "['{work}/other']", false),
        ("the folder as working folder", "['.']", true),
        // Trusting the file itself is not enough, because the folders above it count as well.
        ("a script in the folder", "['{work}/server.sh']", false),
        ("the folder as working folder", "['sub']", false),
    ] {
        let scene = Scene::new(find(name));
        let why = scene.start("workspace-write", &format!("trusted_writable_folders = {trusted}")).await;
        assert_eq!(scene.was_started(), expected, "{name}, {trusted}: {why}");
    }
}

#[tokio::test]
async fn an_unconfined_thread_does_not_start_files_of_confined_ones() {
    let is_script = |attempt: &&Attempt| attempt.name == "a script in the folder";
    let scene = Scene::new(ATTEMPTS.iter().find(is_script).expect("an attempt"));
    let why = scene.start_threads(&["danger-full-access", "danger-full-access"], "").await;
    assert!(scene.was_started(), "{why}");
    let why = scene.start_threads(&["workspace-write", "danger-full-access"], "").await;
    assert!(!scene.was_started() && why.contains("`args` names"), "{why}");
}

#[tokio::test]
async fn data_folders_may_be_writable() {
    static OWN: Attempt = Attempt {
        server: "command = 'sh'\nargs = ['{safe}/server.sh', '{work}', '--root={work}/sub']",
        own: &[("server.sh", ": > '{mark}'\n")],
        left: &[("sub/script.sh", EVIL), ("sub/x.db", "")],
        ..NOTHING
    };
    static FORMS: Attempt = Attempt {
        server: "command = 'sh'\nargs = ['{safe}/server.sh', '-v', '{work}:/projects', '--mount', 'type=bind,src={work}/sub,dst=/p', \
                 '--db-path', '{work}/sub/x.db', '--output-dir', '{work}/new', '--roots={work},/other']\n\
                 env = { ALLOWED_DIR = '{work}' }",
        ..OWN
    };
    static JSON: Attempt = Attempt {
        server: "command = 'sh'\nargs = ['{safe}/server.sh', '{work}/sub/memory.json']\n\
                 env = { MEMORY_FILE_PATH = '{work}/sub/memory.json', XDG_DOWNLOAD_DIR = '{work}' }",
        own: &[("server.sh", ": > '{mark}'\n")],
        left: &[("sub/memory.json", "{}")],
        ..NOTHING
    };
    static SETTINGS: Attempt =
        Attempt { server: "command = 'sh'\nargs = ['{safe}/server.sh', '--config', '{work}/sub/memory.json']", ..JSON };
    static BELOW: Attempt = Attempt {
        server: "command = 'sh'\nargs = ['{safe}/project/server.sh']\ncwd = '{safe}/project'",
        own: &[("project/server.sh", ": > '{mark}'\n"), ("project/files/x", "")],
        roots: &["{safe}/project/files"],
        ..NOTHING
    };
    static SCRIPT: Attempt = Attempt { server: "command = 'sh'\nargs = ['{work}/sub/script.sh']", ..OWN };
    for (attempt, more, expected) in [
        (&OWN, "data_folders = ['{work}']", Ok(())),
        (&OWN, "data_folders = ['.']", Ok(())),
        (&FORMS, "data_folders = ['{work}']", Ok(())),
        (&OWN, "", Err("data_folders")),
        (&JSON, "data_folders = ['{work}']", Ok(())),
        (&JSON, "", Err("`env.MEMORY_FILE_PATH` names")),
        (&SETTINGS, "data_folders = ['{work}']", Err("`args` names")),
        // A program reads nothing from a data folder that is beside it.
        (&BELOW, "data_folders = ['{safe}/project/files']", Ok(())),
        (&BELOW, "trusted_writable_folders = ['{safe}/project/files']", Ok(())),
        (&BELOW, "", Err("data_folders")),
        (&OWN, "data_folders = ['{work}/sub']", Err("`args` names")),
        // A file is not a data folder, and the program and its folder are never data.
        (&SCRIPT, "data_folders = ['{work}']", Err("`args` names")),
        (&OWN, "data_folders = ['{work}']\ncwd = '{work}/sub'", Err("`cwd` names")),
    ] {
        let scene = Scene::new(attempt);
        let why = scene.start("workspace-write", more).await;
        assert_eq!(scene.was_started(), expected.is_ok(), "{more}: {why}");
        if let Err(expected) = expected {
            assert!(why.contains(expected), "{more}: {why}");
        }
    }
}

#[tokio::test]
async fn servers_start_from_folders_that_are_not_writable() {
    static OWN: Attempt = Attempt {
        server: "command = 'sh'\nargs = ['{safe}/server.sh', '{safe}', 'https://example.org/{work}', 'src/{work}.txt']\n\
                 env = { DOCS = '{safe}', MARK = '{mark}' }",
        own: &[("server.sh", "pwd > \"$MARK\"; ls -A >> \"$MARK\"; echo \"$TMPDIR\" >> \"$MARK\"\n")],
        ..NOTHING
    };
    let scene = Scene::new(&OWN);
    scene.start("workspace-write", "").await;
    let said = fs::read_to_string(scene.at("mark")).expect("it was started");
    let lines: Vec<&str> = said.lines().collect();
    let own = scene.at("home/mcp");
    assert!(lines.len() == 2 && lines.iter().all(|line| Path::new(line).starts_with(&own)), "{said}");
    assert_eq!(fs::read_dir(own).expect("a folder").count(), 0, "its folder goes with it");
}

#[tokio::test]
async fn settings_that_name_no_code_are_ignored() {
    // None of these names code: a socket is only connected to, the server's own working folder is not used for MCP
    // servers, and projects may be in a home directory.
    static OWN: Attempt = Attempt {
        server: "command = 'sh'\nargs = ['-c', 'echo \"$PWD\" > \"$HOME\"/../../mark']\nenv_vars = ['SSH_AUTH_SOCK', 'PWD', 'OLDPWD']\n\
                 env = { DOCKER_HOST = 'unix://{work}/docker.sock' }",
        own: &[("user/project/x", ""), ("user/.gitconfig", "[safe]\n\tdirectory = {work}\n")],
        roots: &["{safe}/user/project"],
        variables: &[("SSH_AUTH_SOCK", "{work}/agent"), ("PWD", "{work}"), ("OLDPWD", "{work}")],
        ..NOTHING
    };
    let scene = Scene::new(&OWN);
    let why = scene.start("workspace-write", "").await;
    let said = fs::read_to_string(scene.at("mark")).unwrap_or_else(|_| panic!("it was not started: {why}"));
    assert!(Path::new(said.trim()).starts_with(scene.at("home/mcp")), "{said}");
}
