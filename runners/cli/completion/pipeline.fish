# completes "pnpm pipeline …" in fish; in ~/.config/fish/config.fish:
#   cd CHECKOUT; and pnpm --silent pipeline completion fish | source
# It finds the checkout that it is used in, asks the program there, and leaves all else of pnpm to whatever
# completed it before.
function __mlrb_pipeline
    set -l home $PWD
    while test "$home" != / -a ! -e "$home/runners/cli/bin/pipeline.js"
        set home (dirname "$home")
    end
    test -e "$home/runners/cli/bin/pipeline.js"; or return
    set -l node "$home/node_modules/.bin/node"
    test -x "$node"; or set node node
    set -l words (commandline -opc)
    set -e words[1..2]
    set -l found ("$node" "$home/runners/cli/bin/pipeline.js" complete -- $words (commandline -ct) 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
function __mlrb_in_pipeline
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test "$words[2]" = pipeline
end
complete -c pnpm -n __mlrb_in_pipeline -f -a '(__mlrb_pipeline)'
