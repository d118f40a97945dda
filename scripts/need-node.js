// Scripts load this file first. It uses old syntax, because npm may run it with the machine's old Node.
const wanted = 24
if (Number(process.versions.node.split('.')[0]) < wanted) {
  console.error(
    `Node ${wanted} is needed, and this is Node ${process.versions.node}. npm ci installs Node ${wanted}, but not with --ignore-scripts. Run: npm rebuild node`,
  )
  process.exit(1)
}
