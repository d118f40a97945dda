import { z } from 'zod'

/**
 * Binds the runtime's own network to the Worker as INTERNET. What a Worker fetches goes through a second Worker of the
 * simulator otherwise, which reads each request and writes it anew.
 */
const internet = {
  options: z.unknown(),
  getBindings: () => [{ name: 'INTERNET', service: { name: 'internet' } }],
  getNodeBindings: () => ({}),
  getServices: () => [],
}

export const plugins = { internet }
