# bash completion for stria(1)

# The recordings on an array, by its file.
_stria_recordings() {
    local listing
    listing=$(stria ls "$1" --json 2>/dev/null) || return 0
    grep -o '"name": *"[^"]*"' <<<"${listing#*\"recordings\"}" | sed 's/.*: *"\(.*\)"/\1/'
}

_stria() {
    local current=${COMP_WORDS[COMP_CWORD]}
    local before=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} array='' word index options=''
    COMPREPLY=()
    compopt +o default 2>/dev/null

    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W 'init record ls verify export rm fake simulate drives doctor bench compare report check-synthetic --help --version' -- "$current")
        return
    fi
    for ((index = 2; index < COMP_CWORD; index++)); do
        word=${COMP_WORDS[index]}
        if [[ $word == *.ini ]]; then
            array=$word
            break
        fi
    done

    case $before in
        --root)
            mapfile -t COMPREPLY < <(compgen -d -- "$current")
            compopt -o filenames
            return
            ;;
        --input)
            mapfile -t COMPREPLY < <(compgen -W '- synthetic' -- "$current"; compgen -f -- "$current")
            return
            ;;
        --on-overrun)
            mapfile -t COMPREPLY < <(compgen -W 'block drop stop' -- "$current")
            return
            ;;
        --report | --erase | -o | --output)
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
            compopt -o filenames
            return
            ;;
        --despite)
            mapfile -t COMPREPLY < <(compgen -W 'test drives model firmware link file-system preconditioning points block depth engine policy buffer rate kernel cpu governor version amount partial' -- "$current")
            return
            ;;
        --policy)
            mapfile -t COMPREPLY < <(compgen -W 'adaptive raid0' -- "$current")
            return
            ;;
        --tolerance | --price-a | --price-b | --buffer | --chunk | --depth | --want | --capacity-scale | --rate-scale | --seed | --name | --rate | --size | --duration | --offset | --length)
            return
            ;;
    esac

    if [[ $command == bench && $before == --profile ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(stria fake ls 2>/dev/null | sed -n '2,$s/ .*//p')" -- "$current"; compgen -f -X '!*.ini' -- "$current")
        return
    fi
    if [[ $command == simulate && ($before == --drive || $before == --compare) ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(stria fake ls 2>/dev/null | sed -n '2,$s/ .*//p')" -- "$current"; compgen -f -X '!*.ini' -- "$current")
        return
    fi
    case $command in
        init) options='--erase --help' ;;
        record) options='--name --input --rate --size --duration --on-overrun --report --seed --help' ;;
        ls) options='--json --help' ;;
        verify) options='--json --help' ;;
        export) options='-o --output --offset --length --help' ;;
        rm) options='--help' ;;
        fake) options='--json -o --output --model --drive --capacity --help' ;;
        simulate)
            options='--drive --rate --size --duration --policy --buffer --chunk --depth --want --compare --capacity-scale --rate-scale --seed --json --help'
            ;;
        bench)
            options='--size --block --depth --zones --repeats --rest --runtime --warm-up --stop-at --buffer --engine --profile --capacity-scale --rate-scale --raw --link --seed --erase -o --output --report --archive --save-profile --like-fio --json --help'
            ;;
        compare) options='--json --tolerance --despite --versus --price-a --price-b --buffer --rate --help' ;;
        report) options='-o --output --svg --csv --openmetrics --influx --help' ;;
        drives) options='--json --root --help' ;;
        doctor) options='--json --root --help' ;;
        check-synthetic) options='--offset --help' ;;
        *) return ;;
    esac
    if [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
    elif [[ $command == fake ]] && ((COMP_CWORD == 2)); then
        mapfile -t COMPREPLY < <(compgen -W 'ls show trim rest fit' -- "$current")
    elif [[ $command == fake && ${COMP_WORDS[2]} == show ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(stria fake ls 2>/dev/null | sed -n '2,$s/ .*//p')" -- "$current")
    elif [[ $command == bench ]] && ((COMP_CWORD == 2)); then
        mapfile -t COMPREPLY < <(compgen -W 'size zone block fill steady paced accuracy read ls' -- "$current")
    elif [[ $command == simulate ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
    elif [[ $command == drives || $command == doctor ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(lsblk --noheadings --nodeps --paths --output NAME 2>/dev/null)" -- "$current"; compgen -f -- "$current")
        compopt -o filenames
    elif [[ $command == report || $command == compare ]]; then
        mapfile -t COMPREPLY < <(compgen -f -X '!*.json' -- "$current"; compgen -d -- "$current")
        compopt -o filenames
    elif [[ $command == check-synthetic || $command == fake || $command == bench ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        compopt -o filenames
    elif [[ -z $array ]]; then
        mapfile -t COMPREPLY < <(compgen -f -X '!*.ini' -- "$current"; compgen -d -- "$current")
        compopt -o filenames
    elif [[ $command == verify || $command == export || $command == rm ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_stria_recordings "$array")" -- "$current")
    fi
}

complete -F _stria stria
