#compdef kubectl-rollout2
# zsh completion of kubectl-rollout2.

_kubectl-rollout2() {
    local -a lines described
    local line word description directive typed=${words[CURRENT]}
    lines=("${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    directive=${lines[-1]#:}
    [[ $directive == <-> ]] || return 1
    if (( ! (directive & 4) )); then
        compset -P '-*='
        _files
        return
    fi
    for line in "${(@)lines[1,-2]}"; do
        word=${line%%$'\t'*}
        description=${${line#"$word"}#$'\t'}
        described+=("${word//:/\\:}${description:+:$description}")
    done
    (( $#described )) || return 1
    [[ $typed == -*=* ]] && compset -P '-*='
    local -a options
    (( directive & 2 )) && options+=(-S '')
    if (( directive & 32 )); then
        _describe -V 'what could come next' described $options
    else
        _describe 'what could come next' described $options
    fi
}

# Read by the shell's start-up file, or found in a directory of its fpath.
if [[ $funcstack[1] == _kubectl-rollout2 ]]; then
    _kubectl-rollout2 "$@"
else
    compdef _kubectl-rollout2 kubectl-rollout2
fi
