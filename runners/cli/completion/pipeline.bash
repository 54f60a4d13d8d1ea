# completes "pnpm pipeline …" in bash; in ~/.bashrc, after pnpm's own completion if it is there:
#   source <(cd CHECKOUT && pnpm --silent pipeline completion bash)
# It finds the checkout that it is used in, asks the program there, and leaves all else of pnpm to whatever
# completed it before.
_mlrb_pipeline() {
  local home="$PWD" node line word
  local -a words=()
  while [[ "$home" != / && ! -e "$home/runners/cli/bin/pipeline.js" ]]; do home="$(dirname "$home")"; done
  [[ -e "$home/runners/cli/bin/pipeline.js" ]] || return 1
  node="$home/node_modules/.bin/node"
  [[ -x "$node" ]] || node=node
  # from the line itself: bash has taken its words apart at = and :
  read -r -a words <<< "${COMP_LINE:0:COMP_POINT}"
  [[ "${COMP_LINE:0:COMP_POINT}" == *[[:space:]] ]] && words+=("")
  word="${words[-1]}"
  local kept="${word%"${word##*[=:]}"}" # what bash takes for words of their own
  COMPREPLY=()
  while IFS= read -r line; do
    line="${line%%$'\t'*}"
    [[ "$line" == *= ]] && compopt -o nospace 2> /dev/null
    COMPREPLY+=("${line#"$kept"}")
  done < <("$node" "$home/runners/cli/bin/pipeline.js" complete -- "${words[@]:2}" 2> /dev/null)
}
if ! complete -p pnpm 2> /dev/null | grep -q ' _mlrb_pnpm '; then
  _mlrb_pnpm_before="$(complete -p pnpm 2> /dev/null | sed -n 's/.* -F \([^ ]*\) .*/\1/p')"
fi
_mlrb_pnpm() {
  if [[ "${COMP_WORDS[1]}" == pipeline && "$COMP_CWORD" -gt 1 ]]; then
    _mlrb_pipeline
  elif [[ -n "$_mlrb_pnpm_before" ]]; then
    "$_mlrb_pnpm_before" "$@"
  fi
}
complete -o default -F _mlrb_pnpm pnpm
