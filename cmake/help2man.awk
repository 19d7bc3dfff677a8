# Turns help into what help2man reads: titles between asterisks, notes in the description, prompts before examples.
/^(Commands|Arguments|Exit status):$/ {
  print "*" substr($0, 1, length($0) - 1) "*\n"
  in_options = 0
  next
}
/^Options:$/ { in_options = 1 }
/^Examples:$/ {
  print $0 "\n"
  in_examples = 1
  next
}
# A note follows the options.
in_options && /^[^ ]/ && !/^Options:$/ {
  print "*Description*\n"
  in_options = 0
}
# help2man joins lines that have no prompt.
in_examples && /[^ ]/ {
  sub(/^ +/, continued ? "  > " : "  $ ")
  continued = /\\$/
}
{ print }
