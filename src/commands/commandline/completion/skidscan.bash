# bash completion of skidscan, which itself lists the words.

_skidscan() {
  local line=${COMP_LINE:0:COMP_POINT} current cut word
  local -a words offered
  COMPREPLY=()
  read -a words <<<"$line"  # removes backslashes, too
  [[ $line == *[[:space:]] ]] && words+=('')
  current=${words[-1]}
  cut=${current%"${current##*[:=]}"}  # bash completes the word after a colon or sign alone
  mapfile -t offered < <("${words[0]}" complete "${words[@]:1}" 2>/dev/null)
  case ${offered[0]} in
    words)
      for word in "${offered[@]:1}"; do
        word=${word%%$'\t'*}
        word=${word#"$cut"}
        [[ $word == *[!][:alnum:]_.,:=/%+-]* ]] && printf -v word %q "$word"
        COMPREPLY+=("$word")
      done
      return ;;
    files) mapfile -t COMPREPLY < <(compgen -f -- "${current#--*=}") ;;
    directories) mapfile -t COMPREPLY < <(compgen -d -- "${current#--*=}") ;;
  esac
  compopt -o filenames 2>/dev/null
}

complete -F _skidscan skidscan
