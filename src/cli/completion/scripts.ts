/** The completion scripts of the shells; each calls `urtuu __complete` with the words so far. */
export const scripts = {
  bash: `# urtuu completion for bash; in ~/.bashrc: eval "$(urtuu completion bash)"
_urtuu() {
  local word text line at room widest=0 words=() texts=()
  while IFS=$'\\t' read -r word text; do
    words+=("$word")
    texts+=("$text")
    ((\${#word} > widest)) && widest=\${#word}
  done < <(urtuu __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  COMPREPLY=(\${words[@]+"\${words[@]}"})
  # Only the list of a second Tab has room for descriptions.
  [[ "\${COMP_TYPE-}" == 63 && \${#words[@]} -gt 1 ]] || return 0
  room=$((\${COLUMNS:-80} - widest - 4))
  for at in "\${!words[@]}"; do
    printf -v line "%-\${widest}s  %.\${room}s" "\${words[at]}" "\${texts[at]}"
    [[ -z "\${texts[at]}" ]] || COMPREPLY[at]=$line
  done
}
complete -o default -F _urtuu urtuu
`,
  zsh: `#compdef urtuu
# urtuu completion for zsh; in ~/.zshrc: eval "$(urtuu completion zsh)"
_urtuu() {
  local -a found
  local line
  while IFS= read -r line; do
    found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${\${line#*$'\\t'}:#\${line}}")
  done < <(urtuu __complete -- "\${(@)words[2,$CURRENT]}" 2>/dev/null)
  if (( $#found )); then
    _describe -V urtuu found
  else
    _files
  fi
}
if [[ "\${funcstack[1]-}" == _urtuu ]]; then
  _urtuu "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
  compdef _urtuu urtuu
fi
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
    $name, $text = $_ -split "\`t", 2
    if (-not $text) { $text = $name }
    [System.Management.Automation.CompletionResult]::new($name, $name, 'ParameterValue', $text)
  }
}
`,
} as const;

export type Shell = keyof typeof scripts;
export const shells = Object.keys(scripts) as Shell[];
