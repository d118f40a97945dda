import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { glob, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../paths.ts'
import { readMigrations } from '../schema/read-tables.ts'
import { readUnreleased, releaseChanges } from './changelog.ts'
import { findTag, git, Refusal, succeeds } from './repository.ts'
import { makeDemoDatabase } from './sample.ts'
import { findChangedMigrations, listReleases, storeRelease } from './stored-releases.ts'
import { chooseVersion, compareVersions, setVersions } from './versions.ts'

export const usage =
  'Run: npm run release -- <patch|minor|major|x.y.z> [--checked]\n--checked leaves out `npm run check`, which you have run.'

const branch = 'main'
const changelogPath = 'CHANGELOG.md'
const unchanged = 'Nothing was changed.'

const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8')

const buildSubject = (version: string): string => `Release ${version}`

const readVersion = (manifest: string): string => (JSON.parse(manifest) as { version: string }).version

export interface Plan {
  version: string
  /** True if an earlier run has made the commit, and what comes after it is left. */
  isCommitted: boolean
}

/** Decides which version this is. After a break it is the one whose commit is there already. */
async function decideVersion(request: string): Promise<Plan> {
  const current = readVersion(await read('package.json'))
  const isCommitted =
    (await git('log', '-1', '--format=%s')) === buildSubject(current) && !(await findTag(`v${current}`))
  const before = isCommitted ? readVersion(await git('show', 'HEAD~1:package.json')) : current
  const version = chooseVersion(before, request)
  if (version === null) throw new Refusal(`${request} is no version. ${unchanged}\n${usage}`)
  if (isCommitted && version !== current)
    throw new Refusal(
      `The last commit is release ${current}, and you ask for ${version}. ${unchanged} Run \`npm run release -- ${current}\` to complete that release, or commit what ${version} brings first.`,
    )
  return { version, isCommitted }
}

async function checkRepository(): Promise<void> {
  if (!(await succeeds('rev-parse', '--git-dir')))
    throw new Refusal(`This folder is no git repository. ${unchanged} Clone the project, and release from there.`)
  const head = await git('rev-parse', '--abbrev-ref', 'HEAD')
  if (head !== branch)
    throw new Refusal(`You are on ${head}, and releases are made on ${branch}. ${unchanged} Run: git switch ${branch}`)
  const changes = await git('status', '--porcelain')
  if (changes)
    throw new Refusal(
      `There are changes that no commit has:\n${changes}\n${unchanged} Commit them, or put them aside: git stash -u\nIf a release broke off and left them, undo it: git reset --hard && git clean -fd releases`,
    )
}

async function checkVersion({ version }: Plan): Promise<void> {
  if (await findTag(`v${version}`))
    throw new Refusal(`The tag v${version} exists already. ${unchanged} Choose a higher version.`)
  const last = (await git('tag', '--list', 'v[0-9]*'))
    .split('\n')
    .map((tag) => tag.slice(1))
    .filter((tag) => chooseVersion('0.0.0', tag) !== null)
    .toSorted(compareVersions)
    .at(-1)
  if (last !== undefined && compareVersions(version, last) <= 0)
    throw new Refusal(`${version} is not higher than ${last}, the last release. ${unchanged}`)
  const current = readVersion(await read('package.json'))
  if (compareVersions(version, current) < 0)
    throw new Refusal(`${version} is lower than ${current}, the version in package.json. ${unchanged}`)
}

async function checkContent(): Promise<void> {
  const section = readUnreleased(await read(changelogPath))
  if (!section)
    throw new Refusal(
      `${changelogPath} says nothing below "## Unreleased". ${unchanged} Write there what users notice, commit it, and run this again.`,
    )
  const changed = findChangedMigrations(await listReleases(), await readMigrations())
  if (changed.length > 0) throw new Refusal(`${changed.join('\n')}\n${unchanged}`)
}

/** Refuses what is no release, before anything changes. */
export async function planRelease(request: string): Promise<Plan> {
  await checkRepository()
  const plan = await decideVersion(request)
  await checkVersion(plan)
  if (!plan.isCommitted) await checkContent()
  return plan
}

export async function runCheck(): Promise<void> {
  const child = spawn('npm', ['run', 'check'], { cwd: root, stdio: 'inherit' })
  const code = await new Promise((resolve) => child.once('error', () => resolve(1)).once('exit', resolve))
  if (code !== 0) throw new Refusal(`\`npm run check\` is red. ${unchanged} Mend it, commit, and run this again.`)
}

const packFolder = 'dist'

const getDatabasePath = async () => join(root, packFolder, `${await git('rev-parse', 'HEAD')}.sqlite.gz`)

/** Makes the demonstration data of a commit once, so that a release that broke off does not make them again. */
async function makeDatabaseOnce(path: string): Promise<Buffer> {
  const stored = await readFile(path).catch(() => null)
  if (stored !== null) return stored
  const database = await makeDemoDatabase().catch((cause: unknown) => {
    throw new Refusal(`The demonstration data were not made. ${(cause as Error).message}\n${unchanged}`, { cause })
  })
  await mkdir(join(root, packFolder), { recursive: true })
  await writeFile(`${path}.part`, database)
  await rename(`${path}.part`, path)
  return database
}

/** Stores the schema of a version in `releases/`. The release of that version does it again. */
export async function storeSchema(version: string): Promise<string[]> {
  if (await findTag(`v${version}`))
    throw new Refusal(`${version} is released: the tag v${version} exists. ${unchanged} What a release stores stays.`)
  return storeRelease(version, await readMigrations(), await makeDemoDatabase())
}

/** Writes versions, changelog and schema, and commits them. */
export async function commitRelease(version: string, day: string): Promise<void> {
  const databasePath = await getDatabasePath()
  const database = await makeDatabaseOnce(databasePath)
  const manifests = ['package.json', 'package-lock.json']
  for await (const path of glob('packages/*/package.json', { cwd: root })) manifests.push(path)
  const texts = await Promise.all(manifests.map(async (path) => [path, await read(path)] as const))
  const files = setVersions(new Map(texts), version)
  files.set(changelogPath, releaseChanges(await read(changelogPath), version, day))
  try {
    for (const [path, text] of files) await writeFile(join(root, path), text)
    const stored = await storeRelease(version, await readMigrations(), database)
    await git('add', '--all', '--', ...files.keys(), ...stored)
    await git('commit', '--quiet', '--message', buildSubject(version))
    await rm(databasePath)
  } catch (cause) {
    throw new Refusal(
      `${(cause as Error).message}\nThe release was written and not committed. Undo it: git reset --hard && git clean -fd releases\nThen mend what failed, and run this again.`,
      { cause },
    )
  }
}

export interface Package {
  path: string
  sha256: string
}

/** Packs the typed client with its command line. */
export async function packClient(version: string): Promise<Package> {
  const folder = join(root, packFolder)
  try {
    await mkdir(folder, { recursive: true })
    const args = ['pack', '--json', '--pack-destination', folder]
    await promisify(execFile)('npm', args, { cwd: join(root, 'packages', 'client'), maxBuffer: 64 * 1024 * 1024 })
  } catch (cause) {
    throw new Refusal(
      `The client was not packed. ${(cause as Error).message}\nThe release is committed and has no tag yet. Run this again to complete it, or undo it: git reset --hard HEAD~1`,
      { cause },
    )
  }
  const path = join(packFolder, `event-commerce-client-${version}.tgz`)
  return {
    path,
    sha256: createHash('sha256')
      .update(await readFile(join(root, path)))
      .digest('hex'),
  }
}

export async function tagRelease(version: string): Promise<void> {
  try {
    await git('tag', '--annotate', `v${version}`, '--message', buildSubject(version))
  } catch (cause) {
    throw new Refusal(
      `${(cause as Error).message}\nThe release is committed and has no tag yet. Run this again to complete it, or undo it: git reset --hard HEAD~1`,
      { cause },
    )
  }
}
