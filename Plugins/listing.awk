# SPDX-License-Identifier: Apache-2.0
# Writes the lists of Plugins/Listing: the types of a target that conform to a protocol, by name.
#
#   awk -f listing.awk -v output=FILE -v lists='commands=Command …' -v modules='Domain …' SOURCE…
#
# A type conforms if its declaration or an extension names the protocol, or another one of the target
# that refines it. It must be declared at the top level and must not be private. A list without a type
# is an error, because its protocol is misspelt then. `fields=.Field` instead lists the static members
# of type Field, with their names. `modules` are imported.

function refuse(text) {
    print text > "/dev/stderr"
    exit 1
}

# Notes a declaration: the words from its keyword up to the brace.
function note(text, indented,    words, parents, name, count, i) {
    isPrivate = text ~ /^ *(private|fileprivate) /
    sub(/^.*(struct|enum|class|actor|extension|protocol) /, "&\001", text)
    split(text, words, "\001")
    isProtocol = words[1] ~ /protocol $/
    isExtension = words[1] ~ /extension $/
    text = words[2]
    sub(/[ \t]+where .*/, "", text)
    name = text
    sub(/[^A-Za-z0-9_.].*/, "", name)
    if (text !~ /^[A-Za-z0-9_.]+(<[^>]*>)?[ \t]*:/) return
    sub(/^[^:]*:/, "", text)
    count = split(text, parents, /[,&]/)
    for (i = 1; i <= count; i++) {
        gsub(/[ \t{]|@[a-z]+ */, "", parents[i])
        if (parents[i] == "") continue
        declared++
        child[declared] = name
        parent[declared] = parents[i]
        refines[declared] = isProtocol
        place[declared] = FILENAME ":" FNR
        # Its type may be one of another module.
        if (isExtension) importedBy[declared] = imports
        if (indented) trouble[declared] = "is not declared at the top level"
        if (isPrivate) trouble[declared] = "is private"
    }
}

FNR == 1 { pending = imports = "" }
{ sub(/\/\/.*/, "") }
/^import / { imports = imports $NF " " }
pending == "" && /^ *(@[A-Za-z]+(\([^)]*\))? )*((package|public|internal|private|fileprivate|final|indirect|nonisolated) )*(struct|enum|class|actor|extension|protocol) [A-Z]/ {
    pending = $0
    depth = $0 ~ /^ /
    if ($0 !~ /\{/) next
}
pending != "" {
    if (pending != $0) pending = pending " " $0
    if (pending ~ /\{/) {
        sub(/\{.*/, "", pending)
        note(pending, depth)
        pending = ""
    }
}

# A static member, by its type.
/^    package static (var|let) [a-z][A-Za-z0-9]*: / {
    name = $4
    sub(/:/, "", name)
    members[$5] = members[$5] "        (\"" name "\", ." name "),\n"
}

END {
    text = "// Written by Plugins/Listing; not a source.\n"
    most = split(modules, module, " ")
    for (m = 1; m <= most; m++) text = text "import " module[m] "\n"
    body = ""
    count = split(lists, wanted, " ")
    for (i = 1; i <= count; i++) {
        split(wanted[i], list, "=")
        if (sub(/^\./, "", list[2])) {
            body = body "    static let " list[1] ": [(name: String, value: " list[2] ")] = [\n"
            if (!(list[2] in members)) refuse("error: there is no static member of type " list[2])
            body = body members[list[2]] "    ]\n"
            continue
        }
        # The protocol itself, and those that refine it, however many steps away.
        split("", kinds)
        kinds[list[2]] = 1
        do {
            grown = 0
            for (d = 1; d <= declared; d++)
                if (refines[d] && (parent[d] in kinds) && !(child[d] in kinds)) {
                    kinds[child[d]] = 1
                    grown = 1
                }
        } while (grown)
        split("", seen)
        found = 0
        for (d = 1; d <= declared; d++) {
            if (refines[d] || !(parent[d] in kinds) || (child[d] in seen) || (child[d] in kinds)) continue
            if (d in trouble) refuse(place[d] ": error: " child[d] " " trouble[d] ", so it cannot be listed")
            seen[child[d]] = 1
            names[++found] = child[d]
            most = split(importedBy[d], module, " ")
            for (m = 1; m <= most; m++)
                if (!(module[m] in used)) {
                    used[module[m]] = 1
                    text = text "import " module[m] "\n"
                }
        }
        if (!found) refuse("error: no type conforms to " list[2])
        for (a = 2; a <= found; a++) {
            name = names[a]
            for (b = a - 1; b >= 1 && names[b] > name; b--) names[b + 1] = names[b]
            names[b + 1] = name
        }
        body = body "    static let " list[1] ": [any " list[2] ".Type] = [\n"
        for (a = 1; a <= found; a++) body = body "        " names[a] ".self,\n"
        body = body "    ]\n"
    }
    printf "%s\nenum Listed {\n%s}\n", text, body > output
}
