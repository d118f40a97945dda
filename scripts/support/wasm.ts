import { registerHooks } from 'node:module'

/** Makes Node import WebAssembly as a compiled module, as the platform does. It affects later imports. */
export const importWasm = () =>
  registerHooks({
    load(url, context, nextLoad) {
      if (!url.endsWith('.wasm')) return nextLoad(url, context)
      const source = `import { readFileSync } from 'node:fs'
export default new WebAssembly.Module(readFileSync(new URL(${JSON.stringify(url)})))`
      return { format: 'module', source, shortCircuit: true }
    },
  })
