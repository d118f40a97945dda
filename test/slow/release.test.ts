import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, cp, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { root } from '../../scripts/support/paths.ts'
import { chooseVersion } from '../../scripts/support/release/versions.ts'

const run = promisify(execFile)
const next = chooseVersion(packageJson.version, 'major') ?? ''

let folder: string
const path = (...names: string[]) => join(folder, ...names)
const read = (name: string) => readFile(path(name), 'utf8')
const readJson = async <Value>(name: string) => JSON.parse(await read(name)) as Value
const git = async (...args: string[]) => (await run('git', args, { cwd: folder })).stdout.trimEnd()
const commit = (title: string) => git('add', '--all').then(() => git('commit', '--quiet', '--message', title))

interface Ending {
  code: number
  output: string
}

/** Runs `npm run release` in the copy. */
const release = (...args: string[]): Promise<Ending> =>
  run(process.execPath, ['--import', './scripts/need-node.js', 'scripts/release.ts', ...args], { cwd: folder }).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    (error: { code: number; stdout: string; stderr: string }) => ({
      code: error.code,
      output: error.stdout + error.stderr,
    }),
  )

/** The commit, the tags and the changes of the working tree, by which two states are compared. */
const readState = async () => [await git('rev-parse', 'HEAD'), await git('tag'), await git('status', '--porcelain')]

async function expectRefusal(args: string[], message: string): Promise<void> {
  const before = await readState()
  const { code, output } = await release(...args)
  expect(output).toContain(message)
  expect(output).toContain('Nothing was changed.')
  expect(code).toBe(1)
  expect(await readState()).toEqual(before)
}

/** Lets git run a script at a hook. */
async function setHook(name: string, script: string): Promise<void> {
  await writeFile(path('.git', 'hooks', name), `#!/bin/sh\n${script}\n`)
  await chmod(path('.git', 'hooks', name), 0o755)
}

const ignored = new Set(['node_modules', '.git', '.wrangler', 'releases'])

/** True if a clone has the file. */
const isTracked = (file: string): boolean =>
  !file.split('/').some((name) => ignored.has(name)) && (!/\bdist\/./.test(file) || file.endsWith('.assetsignore'))

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slow-release-'))
  await cp(root, folder, {
    recursive: true,
    filter: (source) => isTracked(relative(root, source)),
  })
  for (const name of ['', 'packages/client', 'packages/console']) {
    const modules = join(name, 'node_modules')
    await symlink(join(root, modules), path(modules))
  }
  await git('init', '--quiet', '--initial-branch=main')
  await git('config', 'user.name', 'Test')
  await git('config', 'user.email', 'test@example.com')
  await writeFile(path('.git', 'info', 'exclude'), 'node_modules\ndist\n')
  await mkdir(path('releases'))
  await writeFile(path('releases', '0.0.1.json'), JSON.stringify({ version: '0.0.1', migrations: {} }))
  await writeFile(path('releases', '0.0.1.sqlite.gz'), 'A database.')
  await run('sh', ['-c', `sed -i 's/^## Unreleased$/## Unreleased\\n\\n- A new thing./' CHANGELOG.md`], { cwd: folder })
  await commit('Begin')
})
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))

it('is refused where it would be wrong, and then nothing has changed', async () => {
  await expectRefusal(['latest', '--checked'], 'latest is no version.')
  await expectRefusal(['0.0.1', '--checked'], '0.0.1 is lower than')
  expect((await release('--chekced')).output).toContain('npm run release -- <patch|minor|major|x.y.z>')
  expect((await release()).code).toBe(1)

  await writeFile(path('note.txt'), 'x')
  await expectRefusal(['minor', '--checked'], '?? note.txt')
  await rm(path('note.txt'))
  await git('switch', '--quiet', '--create', 'other')
  await expectRefusal(['minor', '--checked'], 'You are on other, and releases are made on main.')
  await git('switch', '--quiet', 'main')

  const changelog = await read('CHANGELOG.md')
  await writeFile(path('CHANGELOG.md'), '# Changes\n\n## Unreleased\n\n## 0.0.1 (2026-01-02)\n\n- One.\n')
  await commit('Empty the changelog')
  await expectRefusal(['minor', '--checked'], 'CHANGELOG.md says nothing below "## Unreleased".')
  await writeFile(path('CHANGELOG.md'), changelog)
  await git('tag', 'v900.0.0')
  await commit('Fill the changelog')
  await expectRefusal(['minor', '--checked'], 'is not higher than 900.0.0, the last release.')
  await expectRefusal(['900.0.0', '--checked'], 'The tag v900.0.0 exists already.')
  await git('tag', '--delete', 'v900.0.0')

  const manifest = await read('package.json')
  const redManifest = manifest.replace(/"check": ".*"/, '"check": "echo A test fails. && exit 1"')
  await writeFile(path('package.json'), redManifest)
  await commit('Fail')
  await expectRefusal(['minor'], 'A test fails.')
  await expectRefusal(['minor'], '`npm run check` is red.')
  await writeFile(path('package.json'), redManifest.replace('&& exit 1', ''))
  await commit('Succeed')
})

it('leaves what `git reset` undoes when the commit fails, and what a repetition completes after it', async () => {
  const before = await readState()
  await setHook('pre-commit', 'echo The hook says no. >&2; exit 1')
  const { code, output } = await release(next)
  expect(code).toBe(1)
  expect(output).toContain('The hook says no.')
  expect(output).toContain('Undo it: git reset --hard && git clean -fd releases')
  await rm(path('.git', 'hooks', 'pre-commit'))
  expect((await release(next)).output).toContain('If a release broke off and left them, undo it: git reset --hard')
  await git('reset', '--quiet', '--hard')
  await git('clean', '--quiet', '-fd', 'releases')
  expect(await readState()).toEqual(before)

  // The commit succeeds, and the tag does not.
  await setHook('reference-transaction', 'if [ "$1" = prepared ] && grep -q refs/tags/; then exit 1; fi')
  const broken = await release(next)
  expect(broken.output).toContain('The release is committed and has no tag yet. Run this again to complete it')
  expect(broken.code).toBe(1)
  await rm(path('.git', 'hooks', 'reference-transaction'))
  expect(await git('log', '-1', '--format=%s')).toBe(`Release ${next}`)
  expect(await git('tag')).toBe('')
  await expectRefusal(['99.0.0'], `The last commit is release ${next}, and you ask for 99.0.0.`)

  const complete = await release('major')
  expect(complete.output).toContain(`Release ${next} is committed already. What is left comes now.`)
  expect(complete.code).toBe(0)
})

it('is a commit and a tag with version, changelog and schema, in place of the database of the release before', async () => {
  expect(await git('cat-file', '-t', `v${next}`)).toBe('tag')
  expect(await git('rev-parse', `v${next}^{commit}`)).toBe(await git('rev-parse', 'HEAD'))
  expect(await git('status', '--porcelain')).toBe('')
  const manifests = [
    'package.json',
    ...['client', 'console', 'table-reader'].map((name) => `packages/${name}/package.json`),
  ]
  for (const name of [...manifests, 'package-lock.json'])
    expect(await readJson(name), name).toMatchObject({ version: next })
  const lock = await readJson<{ packages: Record<string, object> }>('package-lock.json')
  for (const name of manifests) {
    const { version, dependencies } = await readJson<{ version: string; dependencies: object }>(name)
    // The lock file has the same, so `npm ci` installs.
    expect(lock.packages[dirname(name) === '.' ? '' : dirname(name)]).toMatchObject({ version, dependencies })
  }
  expect(await read('CHANGELOG.md')).toMatch(
    /^# Changes\n\n## Unreleased\n\n## \d+\.0\.0 \(20\d\d-\d\d-\d\d\)\n\n- A new thing\.\n/,
  )
  expect((await readdir(path('releases'))).toSorted()).toEqual(['0.0.1.json', `${next}.json`, `${next}.sqlite.gz`])
  const { migrations } = await readJson<{ migrations: Record<string, string> }>(`releases/${next}.json`)
  expect(Object.keys(migrations)).toEqual((await readdir(path('migrations'))).toSorted())
})

it('packs a client that has its version, and prints its hash and what to push', async () => {
  await git('tag', '--delete', `v${next}`)
  await rm(path('dist'), { recursive: true })
  await writeFile(path('dist'), 'No folder.')
  const broken = await release(next)
  expect(broken.output).toContain('The client was not packed.')
  expect(broken.output).toContain('Run this again to complete it')
  expect(await git('tag')).toBe('')
  await rm(path('dist'))
  const { output, code } = await release(next)
  expect(code).toBe(0)
  const file = `dist/event-commerce-client-${next}.tgz`
  expect(output).toContain(file)
  expect(output).toContain(
    createHash('sha256')
      .update(await readFile(path(file)))
      .digest('hex'),
  )
  expect(output).toContain(`git push origin main v${next}`)
  expect(await readdir(path('dist'))).toEqual([`event-commerce-client-${next}.tgz`])
  const { stdout } = await run('tar', ['-xzOf', path(file), 'package/package.json'])
  expect(JSON.parse(stdout)).toMatchObject({ version: next })
})

it('cannot be repeated, nor made when a migration of an earlier release was changed', async () => {
  await expectRefusal(['minor'], 'CHANGELOG.md says nothing below "## Unreleased".')
  await expectRefusal(['--store-only'], `${next} is released: the tag v${next} exists.`)
  const [name = ''] = await readdir(path('migrations'))
  await writeFile(path('migrations', name), `${await read(`migrations/${name}`)}\n-- Later.\n`)
  const changelog = await read('CHANGELOG.md')
  await writeFile(path('CHANGELOG.md'), changelog.replace('## Unreleased\n', '## Unreleased\n\n- More.\n'))
  await commit('Change a migration')
  await expectRefusal(['minor', '--checked'], `migrations/${name} is part of release ${next}`)
})
