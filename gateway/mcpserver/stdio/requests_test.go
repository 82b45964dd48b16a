package stdio

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"vaultwicket/gateway/mcpserver/message"
)

// requested is the request id with a message of size bytes.
func requested(t *testing.T, c *Requests, id, method string, size int) {
	t.Helper()
	if err := c.accept(message.Message{Kind: message.Request, ID: id, Method: method}, make([]byte, size)); err != nil {
		t.Fatal(err)
	}
}

// answered releases an answer of mcp-go and reports how many messages leave.
func answered(c *Requests, id string) int {
	defer c.written()
	return len(c.release(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%q,"result":{}}`, id)))
}

func TestHeldBytesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewRequests()
		requested(t, c, "a", "ping", maxPendingBytes/2)
		if !c.waitForCapacity() {
			t.Fatal("no room beside half of the bytes")
		}
		requested(t, c, "b", "ping", maxPendingBytes/2)
		capacity := make(chan bool, 1)
		go func() { capacity <- c.waitForCapacity() }()
		if _, err := c.next(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(capacity) != 0 {
			t.Error("room before anything was answered")
		}
		answered(c, "a")
		synctest.Wait()
		if len(capacity) != 1 || !<-capacity {
			t.Error("no room after an answer")
		}
	})
}

func TestStopLetsEveryoneGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewRequests()
		requested(t, c, "a", "ping", maxPendingBytes)
		requested(t, c, "b", "initialize", 1)
		for range 2 { // initialize, and then nothing before it is answered
			go func() {
				for _, err := c.next(); err != io.EOF; {
					_, err = c.next()
				}
			}()
		}
		go c.waitForCapacity()
		synctest.Wait()
		c.stop()
		if c.waitForCapacity() {
			t.Error("room after the end")
		}
		requested(t, c, "late", "ping", 1)
		if left := c.shutDown(); len(left) != 2 {
			t.Errorf("left %v, want a and b", left)
		}
	})
}

func TestGraceCountsFromTheLastAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewRequests()
		began, over := time.Now(), make(chan time.Duration, 1)
		c.begin(io.Discard, time.Second, func() { over <- time.Since(began) })
		requested(t, c, "a", "ping", 1)
		requested(t, c, "b", "ping", 1)
		c.endInput()
		time.Sleep(900 * time.Millisecond)
		answered(c, "a")
		if got := <-over; got != 1900*time.Millisecond {
			t.Errorf("gave up after %v", got)
		}
	})
}

func TestTheEndWaitsForAnswersOnTheirWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewRequests()
		c.begin(io.Discard, time.Hour, func() {})
		requested(t, c, "a", "ping", 1)
		c.endInput()
		if _, err := c.next(); err != nil {
			t.Fatal(err)
		}
		c.release([]byte(`{"jsonrpc":"2.0","id":"a","result":{}}`))
		end := make(chan error, 1)
		go func() {
			_, err := c.next()
			end <- err
		}()
		synctest.Wait()
		if len(end) != 0 {
			t.Error("the end came before the answer was written")
		}
		c.written()
		if err := <-end; err != io.EOF {
			t.Error(err)
		}
		c.shutDown()
	})
}

func TestHandshakeGoesFirstAndAlone(t *testing.T) {
	c := NewRequests()
	requested(t, c, "early", "ping", 1)
	requested(t, c, "i", "initialize", 2)
	_ = c.accept(message.Message{Kind: message.Notification, Method: "notifications/initialized"}, make([]byte, 3))
	var order []int
	for range 2 {
		c.mu.Lock()
		for line := c.pop(); line != nil; line = c.pop() {
			order = append(order, len(line))
		}
		c.mu.Unlock()
		answered(c, "i")
		order = append(order, 0)
	}
	if got, want := fmt.Sprint(order), "[2 0 3 1 0]"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
}

func TestCallsOutsideOfStdioAreHarmless(t *testing.T) {
	c := NewRequests()
	if c.isCancelled(1.0) || c.isPending("x") || c.cancel(1.0) {
		t.Error("an empty calls knows a request")
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if c.Notify(ctx, "notifications/progress", nil) == nil {
		t.Error("a notification without a client")
	}
}

func TestTheLockIsFreeWhileArgumentsAreDecoded(t *testing.T) {
	c, asked := NewRequests(), false
	c.Changes = func(string, json.RawMessage) bool {
		if asked = true; !c.mu.TryLock() {
			t.Error("the lock is held")
			return true
		}
		c.mu.Unlock()
		return true
	}
	call := message.Message{Kind: message.Request, ID: json.Number("1"), Method: "tools/call", Tool: "x", Arguments: json.RawMessage(`{}`)}
	if err := c.accept(call, []byte("{}")); err != nil || !asked {
		t.Errorf("asked %v, %v", asked, err)
	}
}
