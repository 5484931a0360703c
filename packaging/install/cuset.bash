# bash completion for cuset: commands and options are taken from the program's own --help, so they are never stale.

_cuset_words() {
  # First word of each line below "Subcommands:", or the long options.
  if [ $# -eq 0 ]; then
    cuset --help 2>/dev/null | sed -n '/^Subcommands:/,$ s/^  \([a-z][a-z-]*\) .*/\1/p'
  else
    cuset "$1" --help 2>/dev/null | grep -oE '^ +(-[a-zA-Z],)?--[a-z][a-z0-9-]*' | grep -oE -- '--[a-z0-9-]+'
  fi
}

_cuset() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_cuset_words) --help --version" -- "$word")
    return
  fi
  case $previous in
    --device) mapfile -t COMPREPLY < <(compgen -W "auto cpu cuda cuda:0" -- "$word"); return ;;
    --dtype) mapfile -t COMPREPLY < <(compgen -W "auto float32 bfloat16 float16" -- "$word"); return ;;
  esac
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_cuset_words "${COMP_WORDS[1]}")" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
    compopt -o filenames 2>/dev/null
  fi
}

complete -F _cuset cuset
