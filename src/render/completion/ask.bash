# bash completion of kubectl-rollout2. Needs bash 3.2 or newer and nothing besides.

_kubectl_rollout2() {
    # bash takes words apart at = and :, which stand inside words of ours: put them together again.
    local words=() word rest=${COMP_LINE:0:COMP_POINT} before i
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        before=${rest%%"$word"*}
        rest=${rest#*"$word"}
        if [[ -n $word && -z $before && ${#words[@]} -gt 0 ]]; then
            words[${#words[@]}-1]+=$word
        else
            words+=("$word")
        fi
    done

    local answer directive typed=${words[${#words[@]}-1]} line candidate description
    answer=$("${words[0]}" __complete "${words[@]:1}" 2>/dev/null) || return 0
    directive=${answer##*:}
    answer=${answer%:*}

    # What stands before the last = or : stays where it is; bash wants the rest only.
    local kept='' breaks=${COMP_WORDBREAKS//[^=:]/}
    if [[ -n $breaks && $typed == *["$breaks"]* ]]; then
        kept=${typed%"${typed##*["$breaks"]}"}
    fi
    [[ $typed == -*=* ]] && kept=${kept#*=}

    local candidates=() shown=()
    while IFS= read -r line; do
        [[ -n $line ]] || continue
        candidate=${line%%$'\t'*}
        description=${line#"$candidate"}
        candidates+=("${candidate#"$kept"}")
        shown+=("${candidate#"$kept"}${description:+  (${description#$'\t'})}")
    done <<<"$answer"

    # Descriptions are for a list that is looked at: one candidate alone is put on the line as it is.
    if ((${#candidates[@]} > 1)) && [[ ${COMP_TYPE:-9} == 9 || ${COMP_TYPE:-9} == 63 ]]; then
        COMPREPLY=("${shown[@]}")
    else
        COMPREPLY=("${candidates[@]}")
    fi
    if [[ $(type -t compopt) == builtin ]]; then
        ((directive & 4)) && compopt +o default
        ((directive & 2)) && compopt -o nospace
        ((directive & 32)) && compopt -o nosort 2>/dev/null # since 4.4
    fi
    return 0
}

complete -o default -F _kubectl_rollout2 kubectl-rollout2
