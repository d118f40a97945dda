#!/usr/bin/env node
import { existsSync } from 'node:fs'

// The package has the built files alone. In the repository the sources run as they are.
const source = new URL('../cli/main.ts', import.meta.url)
await import(existsSync(source) ? source.href : new URL('../dist/cli/main.js', import.meta.url).href)
