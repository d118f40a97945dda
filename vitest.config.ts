import { cloudflareTest } from '@cloudflare/vitest-pool-workers'
import { globSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { writeConsoleAssets } from './test/support/console-assets.ts'
import { keepStorageInMemory } from './test/support/memory-storage.ts'
import { pureTests } from './test/support/pure-tests.ts'
import { loadTestSchema } from './test/support/schema-snapshot.ts'
import { sourceBundle } from './test/support/source-bundle.ts'

/** The seed of property tests, which try the same cases at each run unless another seed is set. */
const propertySeed = process.env['PROPERTY_SEED'] ?? '20261121'

/** `all` tries properties with costly cases as often as the check of the slow tests does. */
const propertyRuns = process.env['PROPERTY_RUNS'] ?? 'few'

/** The number of random expressions for each scope. The check of the slow tests tries 1,000. */
const celExpressions = process.env['CEL_EXPRESSIONS'] ?? '200'

/** The time limit of a test in milliseconds. A busy machine does not reach it. */
const patience = 180_000

/** Files with shared storage look only at their own rows. Files with their own storage start empty. */
type Storage = 'shared' | 'own'

const buildBindings = async (storage: Storage) => {
  const { snapshot } = await loadTestSchema()
  return { TEST_SCHEMA: snapshot, TEST_STORAGE: storage }
}

const worker = (storage: Storage) =>
  cloudflareTest(async () => {
    keepStorageInMemory()
    return {
      wrangler: { configPath: './wrangler.toml' },
      miniflare: {
        assets: { directory: writeConsoleAssets() },
        // The runtime loads the bundle itself, because Vite would take as long as for its modules.
        modulesRules: [{ type: 'ESModule', include: ['**/source-bundle/all.mjs'] }],
        bindings: {
          ...(await buildBindings(storage)),
          PROPERTY_SEED: propertySeed,
          PROPERTY_RUNS: propertyRuns,
          CEL_EXPRESSIONS: celExpressions,
          TEST_CLOCK: process.env['TEST_CLOCK'] ?? '',
          TEST_CLOCK_RATE: process.env['TEST_CLOCK_RATE'] ?? '',
          ROOT_TOKEN: 'root-token-of-the-tests',
          ENVIRONMENT: 'test',
          ALLOW_INSECURE_WEBHOOKS: '',
          PUBLIC_URL: 'https://events.example.test',
          LINK_SIGNING_KEY: 'link-signing-key-of-the-tests',
          WALLET_VENDOR_A: 'apple',
          WALLET_VENDOR_B: 'google',
        },
        // Tests run these jobs themselves, so nothing consumes their queues.
        queueProducers: {
          WEBHOOKS: 'webhooks',
          EMAILS: 'emails-unheard',
          REFUNDS: 'refunds-unheard',
          SEGMENTS: 'segments-unheard',
          CAMPAIGNS: 'campaigns-unheard',
          CAMPAIGN_EVENTS: 'campaign-events-unheard',
          IMPORTS: 'imports-unheard',
        },
        ratelimits: Object.fromEntries(
          [
            'RATE_LIMITER',
            'MEMBER_RATE_LIMITER',
            'SIGN_IN_RATE_LIMITER',
            'LINK_RATE_LIMITER',
            'CONFIRMATION_RATE_LIMITER',
          ].map((name, index) => [
            name,
            { namespace_id: String(1001 + index), simple: { limit: 1_000_000, period: 60 } },
          ]),
        ),
      },
    }
  })

// In Node: the validator of the OpenAPI document, which needs files and eval, and rules that need no Worker.
const inNode = ['test/document/**/*.test.ts']
const pure = [...pureTests(import.meta.dirname), 'packages/*/test/*.test.ts']
// Prints what operations answer, for the document: npm run examples.
const examples = ['test/examples/**/*.test.ts']
// Files that share an isolate and its database: they look at what they made themselves, and at nothing else.
const sharing = ['test/api/**/*.test.ts', 'test/unit/**/*.test.ts', 'packages/*/test/worker/*.test.ts']
// They seed rows with fixed ids, or count all that a database holds.
const apart = [
  'test/api/auth-oidc.test.ts',
  'test/api/editions-meta.test.ts',
  'test/api/files-serve.test.ts',
  'test/api/limits.test.ts',
  'test/api/missing-providers.test.ts',
  'test/api/receipts.test.ts',
  'test/api/system.test.ts',
  'test/unit/cel-explain.test.ts',
  'test/unit/cel-scope-cost.test.ts',
  'test/unit/cel-tenants.test.ts',
  // A dump takes as long as everybody before has written.
  ...globSync(sharing, { cwd: import.meta.dirname }).filter((file) => /\bdump\(/.test(readFileSync(file, 'utf8'))),
]
// Starts real servers, and waits for leases that last a minute: npm run test:slow.
const slow = ['test/slow/*.test.ts', 'packages/*/test/slow/*.test.ts']
// The console in a browser. All files share a server and its demonstration data: npm run test:slow.
const inBrowser = ['test/slow/console/*.test.ts']
// Contract tests that take long, in the Workers runtime: npm run test:slow.
const slowInWorkerd = ['test/slow/worker/**/*.test.ts', 'packages/*/test/slow/worker/*.test.ts']
// The slow tests try properties again, with another seed.
const propertiesInWorkerd = globSync([...sharing, 'test/{jobs,objects}/**/*.test.ts'], {
  cwd: import.meta.dirname,
}).filter((file) => /from 'fast-check'|env\.CEL_EXPRESSIONS/.test(readFileSync(file, 'utf8')))

const inWorkerd = (name: string, include: string[], exclude: string[]) => ({
  name,
  include,
  exclude,
  // An isolate takes two seconds to start.
  isolate: false,
  deps: { optimizer: { ssr: { enabled: true, include: bundled } } },
  setupFiles: ['./test/support/setup.ts'],
  testTimeout: patience,
  hookTimeout: patience,
  // A second is short where all cores are busy.
  expect: { poll: { timeout: 60_000 } },
})

// In Node: what the platform does with an import of WebAssembly by itself.
const wasm = {
  name: 'wasm',
  enforce: 'pre' as const,
  load: (id: string) =>
    id.endsWith('.wasm')
      ? `export default new WebAssembly.Module(Buffer.from('${readFileSync(id).toString('base64')}', 'base64'))`
      : null,
}

const inlined = { deps: { inline: [/mrml/] } }

// What tests import, one file each instead of hundreds: a test file loads them all, one request a module.
const bundled = [
  '@bufbuild/cel',
  '@bufbuild/cel/ext',
  '@bufbuild/cel-spec/testdata/tests.js',
  '@bufbuild/protobuf/wkt',
  '@cfworker/json-schema',
  '@modelcontextprotocol/sdk/client/index.js',
  '@modelcontextprotocol/sdk/client/streamableHttp.js',
  'asn1js',
  'fast-check',
  'fflate',
  'htmlparser2',
  'jose',
  'csv-parse/browser/esm/sync',
  'sms-segments-calculator',
  'standardwebhooks',
]

export default defineConfig({
  test: {
    // One more than there are cores: a worker spends a part of its time waiting for its own database.
    maxWorkers: availableParallelism() + 1,
    projects: [
      {
        plugins: [wasm],
        test: { name: 'document', include: inNode, isolate: false, server: inlined, testTimeout: patience },
      },
      {
        test: {
          name: 'unit',
          include: pure,
          // The package has an entry once it is built.
          alias: { '@event-commerce/client': `${import.meta.dirname}/packages/client/src/index.ts` },
          isolate: false,
          env: { PROPERTY_SEED: propertySeed },
          setupFiles: ['./test/support/node-encoding.ts', './test/support/setup-node.ts'],
          testTimeout: patience,
        },
      },
      {
        plugins: [wasm],
        test: {
          name: 'slow',
          include: slow,
          globalSetup: './test/support/console/build.ts',
          setupFiles: ['./test/support/node-encoding.ts'],
          server: inlined,
          testTimeout: 240_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'console',
          include: inBrowser,
          globalSetup: './test/support/console/setup.ts',
          testTimeout: 240_000,
          hookTimeout: 240_000,
          expect: { poll: { timeout: 60_000 } },
        },
      },
      {
        plugins: [sourceBundle(), worker('own')],
        test: {
          name: 'examples',
          include: examples,
          deps: { optimizer: { ssr: { enabled: true, include: bundled } } },
          setupFiles: ['./test/support/setup.ts'],
        },
      },
      {
        plugins: [sourceBundle(), worker('shared')],
        test: inWorkerd('worker-shared', sharing, [...apart, ...pure]),
      },
      {
        plugins: [sourceBundle(), worker('own')],
        test: inWorkerd('worker', ['test/{contract,jobs,objects}/**/*.test.ts', ...apart], []),
      },
      {
        plugins: [sourceBundle(), worker('own')],
        test: inWorkerd('slow-worker', [...slowInWorkerd, ...propertiesInWorkerd], pure),
      },
    ],
  },
})
