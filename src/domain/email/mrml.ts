import { Engine, initSync } from 'mrml/web/mrml_wasm.js'
import wasm from 'mrml/web/mrml_wasm_bg.wasm'

let engine: Engine | undefined

/** HTML of MJML. The markup is the service's own and contains no other text, so a failure is a fault of the service. */
export function renderMjml(mjml: string): string {
  if (!engine) {
    initSync({ module: wasm })
    engine = new Engine()
  }
  const result = engine.toHtml(mjml)
  if (result.type === 'success') return result.content
  throw new Error(`MJML was refused: ${result.message}`)
}
