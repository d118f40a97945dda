import { parseYaml } from '@redocly/openapi-core'
import { access, glob, readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }

interface Step {
  uses?: string
  run?: string
  with?: Record<string, unknown>
}

interface Job {
  'runs-on': string
  'timeout-minutes'?: number
  needs?: string
  permissions?: unknown
  steps: Step[]
}

interface Workflow {
  on: Record<string, unknown>
  permissions: Record<string, string>
  concurrency: { group: string }
  jobs: Record<string, Job>
}

const names = await Array.fromAsync(glob('.github/workflows/*.yml'))
const workflows = await Promise.all(
  names.map(async (name) => {
    const text = await readFile(name, 'utf8')
    return { name, text, workflow: parseYaml(text) as Workflow }
  }),
)
const jobs = workflows.flatMap(({ workflow }) => Object.entries(workflow.jobs))
const steps = jobs.flatMap(([, job]) => job.steps)

it('workflows read the repository and may do nothing else', () => {
  expect(names).toEqual(['.github/workflows/ci.yml'])
  for (const { workflow, text } of workflows) {
    expect(workflow.permissions).toEqual({ contents: 'read' })
    expect(workflow.on).not.toHaveProperty('pull_request_target')
    expect(workflow.concurrency.group).toContain('github.ref')
    expect(text).not.toContain('secrets.')
  }
  expect(jobs.filter(([, job]) => job.permissions !== undefined)).toEqual([])
})

it('jobs end by themselves, and their steps do one thing each', () => {
  for (const [name, job] of jobs) {
    expect(job['timeout-minutes'], name).toBeLessThanOrEqual(90)
    expect(job['runs-on'], name).toMatch(/^ubuntu-\d\d\.\d\d$/)
    for (const step of job.steps) expect(Number('uses' in step) + Number('run' in step), name).toBe(1)
  }
  const needed = jobs.flatMap(([, job]) => job.needs ?? [])
  expect(needed.filter((name) => !jobs.some(([other]) => other === name))).toEqual([])
})

it('actions are pinned by their commit, with the version beside it', () => {
  const uses = steps.flatMap((step) => step.uses ?? [])
  expect(uses.length).toBeGreaterThan(3)
  expect(uses.filter((action) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/.test(action))).toEqual([])
  for (const { text } of workflows)
    for (const [line] of text.matchAll(/^.*uses: .*$/gm)) expect(line).toMatch(/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  // One action has one version everywhere.
  expect(new Set(uses).size).toBe(new Set(uses.map((action) => action.split('@')[0])).size)
})

it('no text of a pull request reaches a shell, and no step keeps the credentials of git', () => {
  for (const { run = '' } of steps) expect(run).not.toContain('${{')
  for (const { uses, with: inputs } of steps)
    if (uses?.startsWith('actions/checkout@')) expect(inputs).toMatchObject({ 'persist-credentials': false })
})

it('the workflow runs what stands in .ci, with the Node of the packages', async () => {
  expect(steps.map(({ run }) => run)).toContain('.ci/run')
  await access('.ci/run')
  const versions = steps.flatMap((step) => step.with?.['node-version'] ?? [])
  expect(new Set(versions.map(String))).toEqual(new Set([manifest.dependencies.node]))
})
