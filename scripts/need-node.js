// Loaded before the scripts, in the words of old versions of Node: without its own Node, npm takes the machine's.
const wanted = 24
if (Number(process.versions.node.split('.')[0]) < wanted) {
  console.error(
    `This needs Node ${wanted}, and here runs Node ${process.versions.node}. npm ci brings Node ${wanted} along, but not with --ignore-scripts. Run: npm rebuild node`,
  )
  process.exit(1)
}
