/** Compiled by the platform before the Worker starts: code may not compile WebAssembly itself. */
declare module '*.wasm' {
  const module: WebAssembly.Module
  export default module
}

/** The build without files and streams; the package describes its default build alone. */
declare module 'liquidjs/dist/liquid.browser.mjs' {
  export * from 'liquidjs'
}
