import assert from 'node:assert/strict'
import { test } from 'node:test'
import { placeErrors } from '../src/shared/form/field_errors.ts'

test('errors are placed at the fields that their paths name', () => {
  const errors = placeErrors([
    { field: 'city', message: 'is required' },
    { field: 'items[2].price', message: 'must be a number' },
    { field: 'city', message: 'is too short' },
  ])
  assert.deepEqual(errors, {
    city: { __errors: ['is required', 'is too short'] },
    items: { 2: { price: { __errors: ['must be a number'] } } },
  })
})

test('an error without a field belongs to the whole form', () => {
  assert.deepEqual(placeErrors([{ field: null, message: 'too large' }]), { __errors: ['too large'] })
})

test('a field named __proto__ does not change other objects', () => {
  placeErrors([{ field: '__proto__.polluted', message: 'x' }])
  assert.equal(({} as Record<string, unknown>).polluted, undefined)
})
