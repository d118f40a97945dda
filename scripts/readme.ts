import { glob, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checks } from '../src/domain/editions/health/index.ts'
import { type Operation, tags } from '../src/http/operations/operation.ts'
import { buildCostSections } from './support/documents/cost-page.ts'
import { findBrokenLinks, findMissingPaths } from './support/documents/links.ts'
import { developmentFile, settingLists } from './support/documents/settings-page.ts'
import { drawSlices, readSliceImports } from './support/documents/slices.ts'
import { root } from './support/paths.ts'
import { importWasm } from './support/wasm.ts'

importWasm()
const { operations } = await import('../src/app.ts')

const formatRoles = ({ roles, isPublic }: Operation): string => {
  if (isPublic) return 'everybody'
  if (roles.length === 0) return 'superuser'
  return roles.length === 6 ? 'all roles' : roles.join(' ')
}

const formatOperation = (operation: Operation): string =>
  `- \`${operation.method.toUpperCase()} ${operation.path}\` \`${operation.id}\`: ${formatRoles(operation)}`

const operationLists = tags.flatMap((tag) => {
  const items = operations.filter((operation) => operation.tag === tag).map(formatOperation)
  return items.length === 0 ? [] : [`**${tag}**`, items.join('\n')]
})

const checkList = checks
  .map(
    ({ id, severity, isCritical, rule, suggestion, fix }) =>
      `- \`${id}\` (${severity}${isCritical ? ' or critical' : ''}): ${rule} To fix it: ${suggestion}${fix === null ? '' : ` (\`${fix}\`)`}`,
  )
  .join('\n')

const isCheck = process.argv.includes('--check')
const read = (name: string) => readFile(join(root, name), 'utf8')

function fail(message: string): void {
  console.error(message)
  process.exitCode = 1
}

// The formatter pads the columns of tables.
const collapsePadding = (text: string) => text.replaceAll(/ +/g, ' ').replaceAll(/-+/g, '-')

const lineWidth = 120

/** Breaks a list item into lines. */
function wrapItem(text: string): string {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? ''
    if (line && line.length + 1 + word.length > lineWidth) lines.push(`  ${word}`)
    else lines[lines.length - 1] = line ? `${line} ${word}` : word
  }
  return lines.join('\n')
}

/** Replaces a section of a page. With --check it fails when the section is stale. */
async function renewSection(name: string, section: string, content: string): Promise<void> {
  const lines = content.split('\n').map((line) => (line.startsWith('- ') ? wrapItem(line) : line))
  const [begin, end] = [`<!-- ${section}: npm run readme -->`, `<!-- /${section} -->`]
  const before = await read(name)
  const [start, stop] = [before.indexOf(begin), before.indexOf(end)]
  if (start < 0 || stop < start) throw new Error(`${name} has lost the marks of its section ${section}.`)
  const after = `${before.slice(0, start + begin.length)}\n\n${lines.join('\n')}\n\n${before.slice(stop)}`
  if (collapsePadding(before) === collapsePadding(after)) return
  if (isCheck) fail(`${name} is stale. Run: npm run readme`)
  else await writeFile(join(root, name), after)
}

/** Writes a whole file. With --check it fails when the file is stale. */
async function renewFile(name: string, content: string): Promise<void> {
  if ((await read(name)) === content) return
  if (isCheck) fail(`${name} is stale. Run: npm run readme`)
  else await writeFile(join(root, name), content)
}

const files = new Set<string>()
const folders = ['*', '.*', '{src,packages,test,scripts,migrations,releases,docs,.ci,.github}/**/*']
for await (const file of glob(folders, { cwd: root, exclude: ['packages/*/{node_modules,dist}'] })) files.add(file)
const readAll = (names: string[]) => Promise.all(names.map(async (path) => ({ path, text: await read(path) })))

const sources = await readAll([...files].filter((file) => /^src\/modules\/.*\.ts$/.test(file)))
const slices = readSliceImports(sources.map(({ path, text }) => [path, text]))

await renewSection('docs/operations.md', 'operations', operationLists.join('\n\n'))
await renewSection('docs/editions.md', 'checks', checkList)
await renewSection('docs/architecture.md', 'slices', drawSlices(slices))
await renewSection('docs/settings.md', 'settings', settingLists)
await renewFile('.dev.vars.example', developmentFile)
for (const [section, text] of Object.entries(buildCostSections)) await renewSection('docs/cost.md', section, text)

if (isCheck) {
  const pages = await readAll([...files].filter((file) => file.endsWith('.md')).toSorted())
  for (const message of [...findBrokenLinks(pages, files), ...findMissingPaths(pages, files)]) fail(message)
}
