# completes "pnpm pipeline …" in zsh; in ~/.zshrc, after compinit and pnpm's own completion if it is there:
#   source <(cd CHECKOUT && pnpm --silent pipeline completion zsh)
# It finds the checkout that it is used in, asks the program there, and leaves all else of pnpm to whatever
# completed it before.
_mlrb_pipeline() {
  local home=$PWD node line
  local -a found values shown open
  while [[ $home != / && ! -e $home/runners/cli/bin/pipeline.js ]]; do home=${home:h}; done
  [[ -e $home/runners/cli/bin/pipeline.js ]] || return 1
  node=$home/node_modules/.bin/node
  [[ -x $node ]] || node=node
  found=("${(@f)$("$node" "$home/runners/cli/bin/pipeline.js" complete -- "${(@Q)words[3,CURRENT-1]}" "${(Q)PREFIX}" 2> /dev/null)}")
  for line in $found; do
    if [[ $line == *= ]]; then
      open+=("$line")
    elif [[ -n $line ]]; then
      values+=("${line%%$'\t'*}")
      shown+=("${line/$'\t'/  -- }")
    fi
  done
  (( $#open )) && compadd -S '' -a open
  (( $#values )) && compadd -l -d shown -a values
  (( $#open + $#values )) || _files
}
[[ ${_comps[pnpm]:-} == _mlrb_pnpm ]] || _mlrb_pnpm_before=${_comps[pnpm]:-}
_mlrb_pnpm() {
  if [[ $words[2] == pipeline && $CURRENT -gt 2 ]]; then
    _mlrb_pipeline
  elif [[ -n $_mlrb_pnpm_before ]]; then
    $_mlrb_pnpm_before "$@"
  else
    _files
  fi
}
compdef _mlrb_pnpm pnpm
