/** The completion scripts of the shells; each asks `urtuu __complete` with the words so far. */
export const scripts = {
  bash: `# urtuu completion for bash; in ~/.bashrc: eval "$(urtuu completion bash)"
_urtuu() {
  local IFS=$'\\n'
  COMPREPLY=($(urtuu __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _urtuu urtuu
`,
  zsh: `#compdef urtuu
# urtuu completion for zsh; in ~/.zshrc, after compinit: eval "$(urtuu completion zsh)"
_urtuu() {
  local -a found
  found=("\${(@f)$(urtuu __complete -- "\${(@)words[2,$CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${found[1]}" ]]; then
    compadd -- "\${found[@]}"
  else
    _files
  fi
}
compdef _urtuu urtuu
`,
  fish: `# urtuu completion for fish: urtuu completion fish > ~/.config/fish/completions/urtuu.fish
function __urtuu
  set -l found (urtuu __complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)
  if set -q found[1]
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c urtuu -f -k -a '(__urtuu)'
`,
  powershell: `# urtuu completion for PowerShell; in $PROFILE: urtuu completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName urtuu -ScriptBlock {
  param($word, $ast, $cursor)
  $words = @($ast.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  $next = if ($word -eq '') { @('--next') } else { @() }
  urtuu __complete @next -- @words 2>$null | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}
`,
} as const;

export type Shell = keyof typeof scripts;
export const shells = Object.keys(scripts) as Shell[];
