# fish completion of kubectl-rollout2.

function __kubectl_rollout2_answer
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    set -l answer ($words[1] __complete $words[2..-1] "$typed" 2>/dev/null)
    set -l directive (string replace -r '^:' '' -- $answer[-1])
    string match -qr '^[0-9]+$' -- $directive; or return
    # What is before the = of --flag=value stays where it is.
    set -l kept (string match -r -- '^-[^=]*=' "$typed")
    if test (math "bitand($directive, 4)") -eq 0
        for path in (__fish_complete_path (string replace -- "$kept" '' "$typed"))
            echo -- "$kept$path"
        end
        return
    end
    for line in $answer[1..-2]
        echo -- "$kept$line"
    end
end

complete -c kubectl-rollout2 -e
complete -c kubectl-rollout2 -f -k -a '(__kubectl_rollout2_answer)'
