declare namespace Cloudflare {
  interface Env {
    ROOT_TOKEN: string
    TEST_MIGRATIONS: import('cloudflare:test').D1Migration[]
  }
}
