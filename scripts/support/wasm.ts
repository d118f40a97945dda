import { registerHooks } from 'node:module'

/** Lets Node import WebAssembly as the platform does: the module, compiled. For imports that come after the call. */
export const importWasm = () =>
  registerHooks({
    load(url, context, nextLoad) {
      if (!url.endsWith('.wasm')) return nextLoad(url, context)
      const source = `import { readFileSync } from 'node:fs'
export default new WebAssembly.Module(readFileSync(new URL(${JSON.stringify(url)})))`
      return { format: 'module', source, shortCircuit: true }
    },
  })
