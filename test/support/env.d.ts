declare namespace Cloudflare {
  interface Env {
    CEL_EXPRESSIONS: string
    PROPERTY_RUNS: string
    PROPERTY_SEED: string
    ROOT_TOKEN: string
    TEST_CLOCK: string
    TEST_CLOCK_RATE: string
    TEST_SCHEMA: string[]
    TEST_STORAGE: 'shared' | 'own'
  }
}
