# fish completion of skidscan, which itself lists the words.

function __skidscan_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l offered ($words[1] complete $words[2..] 2>/dev/null)
    switch "$offered[1]"
        case words
            printf '%s\n' $offered[2..]
        case files
            __fish_complete_path (commandline -ct)
        case directories
            __fish_complete_directories (commandline -ct)
    end
end

complete -c skidscan -f -a '(__skidscan_complete)'
