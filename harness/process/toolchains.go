package process

import (
	"os"
	"path/filepath"
)

// toolchain is a variable by which a launcher finds what is installed for the user, and where that is
// by default, relative to the user's home. A launcher finds the default through HOME, which is
// another one for a subject: so a default that exists is made explicit.
type toolchain struct {
	name     string
	defaults []string
	probe    string // what such a directory holds where it is more than a left-over
}

// toolchains are directories, never secrets; some hold a credentials file of the user (cargo), which a subject
// with the rights of the caller could read anyway.
var toolchains = []toolchain{
	{name: "CARGO_HOME", defaults: []string{".cargo"}},
	{name: "RUSTUP_HOME", defaults: []string{".rustup"}},
	{name: "NVM_DIR", defaults: []string{".nvm", ".config/nvm"}},
	{name: "NVM_HOME"}, // nvm for Windows
	{name: "NVM_SYMLINK"},
	{name: "FNM_DIR", defaults: []string{".local/share/fnm", ".fnm", "Library/Application Support/fnm"}},
	{name: "FNM_MULTISHELL_PATH"},
	{name: "VOLTA_HOME", defaults: []string{".volta"}},
	{name: "N_PREFIX"},
	{name: "NODENV_ROOT", defaults: []string{".nodenv"}},
	{name: "COREPACK_HOME", defaults: []string{".cache/node/corepack"}},
	{name: "PNPM_HOME", defaults: []string{".local/share/pnpm", "Library/pnpm", "AppData/Local/pnpm"}},
	{name: "BUN_INSTALL", defaults: []string{".bun"}},
	{name: "DENO_INSTALL", defaults: []string{".deno"}},
	{name: "DENO_DIR", defaults: []string{".cache/deno", "Library/Caches/deno", "AppData/Local/deno"}},
	{name: "PYENV_ROOT", defaults: []string{".pyenv"}},
	{name: "UV_CACHE_DIR", defaults: []string{".cache/uv", "AppData/Local/uv/cache"}},
	{name: "UV_PYTHON_INSTALL_DIR", defaults: []string{".local/share/uv/python", "AppData/Roaming/uv/python"}},
	{name: "UV_TOOL_DIR", defaults: []string{".local/share/uv/tools", "AppData/Roaming/uv/tools"}},
	{name: "PIPX_HOME", defaults: []string{".local/share/pipx", ".local/pipx"}},
	{name: "VIRTUAL_ENV"},
	{name: "CONDA_PREFIX"},
	{name: "DOTNET_ROOT", defaults: []string{".dotnet"}, probe: "shared"}, // dotnet makes ~/.dotnet wherever it is installed itself
	{name: "DOTNET_CLI_HOME"},
	{name: "NUGET_PACKAGES", defaults: []string{".nuget/packages"}},
	{name: "GOROOT"},
	{name: "GOPATH", defaults: []string{"go"}},
	{name: "GOMODCACHE"}, // below GOPATH by default
	{name: "GOCACHE", defaults: []string{".cache/go-build", "Library/Caches/go-build", "AppData/Local/go-build"}},
	{name: "JAVA_HOME"},
	{name: "SDKMAN_DIR", defaults: []string{".sdkman"}},
	{name: "GRADLE_USER_HOME", defaults: []string{".gradle"}},
	{name: "RBENV_ROOT", defaults: []string{".rbenv"}},
	{name: "GEM_HOME"},
	{name: "ASDF_DIR", defaults: []string{".asdf"}},
	{name: "ASDF_DATA_DIR", defaults: []string{".asdf"}},
	{name: "MISE_DATA_DIR", defaults: []string{".local/share/mise", "AppData/Local/mise"}},
	{name: "MISE_CONFIG_DIR", defaults: []string{".config/mise"}},
	{name: "JULIA_DEPOT_PATH", defaults: []string{".julia"}},
	{name: "GHCUP_INSTALL_BASE_PREFIX"},
	{name: "NIX_PROFILES"},
}

// existing is the first default that is a directory below home.
func (t toolchain) existing(home string) (string, bool) {
	if home == "" {
		return "", false
	}
	for _, below := range t.defaults {
		dir := filepath.Join(home, filepath.FromSlash(below))
		if info, err := os.Stat(filepath.Join(dir, t.probe)); err == nil && info.IsDir() {
			return dir, true
		}
	}
	return "", false
}

// windowsSystem is what programs on Windows do not start without.
var windowsSystem = []string{
	"SystemRoot", "SystemDrive", "windir", "ComSpec", "PATHEXT", "OS",
	"NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "PROCESSOR_IDENTIFIER",
	"ProgramData", "ProgramFiles", "ProgramFiles(x86)", "ProgramW6432",
	"CommonProgramFiles", "CommonProgramFiles(x86)", "CommonProgramW6432", "PUBLIC", "ALLUSERSPROFILE",
}
