export * from '../../scripts/support/fake-provider.ts'
