import { createHash } from 'node:crypto'
import { glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { createTables } from '../../../src/objects/campaign/schema.ts'
import { root } from '../paths.ts'
import type { Migration } from '../schema/read-tables.ts'
import { compareVersions } from './versions.ts'

/** The content of `releases/<version>.json`. */
export interface StoredRelease {
  version: string
  /** The SHA-256 of each migration by its name. */
  migrations: Record<string, string>
  /** The statements that create the tables in the object of a campaign. */
  campaign_tables: string
}

const folder = join(root, 'releases')
const dataSuffix = '.sqlite.gz'

const hash = (text: string): string => createHash('sha256').update(text).digest('hex')

function readCampaignTables(): string {
  let text = ''
  createTables({ exec: (query) => (text += query) })
  return text
}

export const describeRelease = (version: string, migrations: readonly Migration[]): StoredRelease => ({
  version,
  migrations: Object.fromEntries(migrations.map(({ name, text }) => [name, hash(text)])),
  campaign_tables: readCampaignTables(),
})

/** Lists the stored releases, from the first to the last. */
export async function listReleases(): Promise<StoredRelease[]> {
  const names = await Array.fromAsync(glob('*.json', { cwd: folder }))
  const releases = await Promise.all(
    names.map(async (name) => JSON.parse(await readFile(join(folder, name), 'utf8')) as StoredRelease),
  )
  return releases.toSorted((one, other) => compareVersions(one.version, other.version))
}

/** Reads the database of the last release: its schema, with the demonstration data that its version made. */
export const readReleaseDatabase = async ({ version }: StoredRelease): Promise<Buffer> =>
  gunzipSync(await readFile(join(folder, `${version}${dataSuffix}`)))

/** Stores a release, in place of the database of the one before. Returns the paths that changed. */
export async function storeRelease(
  version: string,
  migrations: readonly Migration[],
  database: Buffer,
): Promise<string[]> {
  const release = describeRelease(version, migrations)
  const oldNames = (await Array.fromAsync(glob(`*${dataSuffix}`, { cwd: folder }))).map((name) => basename(name))
  await mkdir(folder, { recursive: true })
  for (const name of oldNames) await rm(join(folder, name))
  await writeFile(join(folder, `${version}.json`), `${JSON.stringify(release, null, 2)}\n`)
  await writeFile(join(folder, `${version}${dataSuffix}`), database)
  return [...oldNames, `${version}.json`, `${version}${dataSuffix}`].map((name) => join('releases', name))
}

const nextName = (names: readonly string[]): string => {
  const last = Math.max(...names.map((name) => Number.parseInt(name, 10)))
  return `migrations/${String(last + 1).padStart(4, '0')}_verb_noun.sql`
}

/** Says which migrations of a release are no longer as installations have applied them. */
export function findChangedMigrations(releases: readonly StoredRelease[], migrations: readonly Migration[]): string[] {
  const texts = new Map(migrations.map(({ name, text }) => [name, text]))
  const next = nextName(migrations.map(({ name }) => name))
  const released = new Map(
    releases.flatMap(({ version, migrations: hashes }) =>
      Object.entries(hashes).map(([name, text]) => [name, { version, text }] as const),
    ),
  )
  const lastName = [...released.keys()].toSorted().at(-1) ?? ''
  const changed = [...released].flatMap(([name, { version, text }]) => {
    const now = texts.get(name)
    if (now !== undefined && hash(now) === text) return []
    return [
      `migrations/${name} is part of release ${version}, and installations have applied it as it was. Restore it, and write the change into a new file: ${next}`,
    ]
  })
  const late = migrations.filter(({ name }) => !released.has(name) && name < lastName)
  return [
    ...changed,
    ...late.map(
      ({ name }) => `migrations/${name} comes before migrations that are released already. Rename it: ${next}`,
    ),
  ]
}
