// Tests a login with Go: the code that a customer gets by SMS is read from the outbox of `urtuu serve`.
// Needs `urtuu` on the PATH. Run it with: go test login_code_test.go
package login

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

type API struct{ BaseURL, Key string }

// Call reads the answer into `answer` and returns its status.
func (api API) Call(method, path string, body, answer any) (int, error) {
	var content bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&content).Encode(body); err != nil {
			return 0, err
		}
	}
	request, err := http.NewRequest(method, api.BaseURL+path, &content)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", "Bearer "+api.Key)
	request.Header.Set("Content-Type", "application/json")
	client := http.Client{Timeout: 30 * time.Second}
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	return response.StatusCode, json.NewDecoder(response.Body).Decode(answer)
}

// Login is the program under test. In production it gets another base URL and key, and sends to real people.
type Login struct{ API API }

func (login Login) SendCode(phone string) (string, error) {
	var verification struct{ ID string }
	status, err := login.API.Call("POST", "/verify", map[string]string{"to": phone}, &verification)
	if err == nil && status != http.StatusCreated {
		err = fmt.Errorf("the code was not sent: status %d", status)
	}
	return verification.ID, err
}

func (login Login) IsRight(id, code string) bool {
	var verification map[string]any
	status, err := login.API.Call("POST", "/verify/"+id+"/check", map[string]string{"code": code}, &verification)
	return err == nil && status == http.StatusOK
}

// startService starts a service of this test alone: nothing that it sends leaves the machine.
func startService(t *testing.T) API {
	t.Helper()
	printed, err := exec.Command("urtuu", "keys", "example").Output()
	if err != nil {
		t.Fatal(err)
	}
	key := strings.TrimSpace(string(printed))
	data := filepath.Join(t.TempDir(), "data")
	service := exec.Command("urtuu", "serve", "--port", "0", "--data", data, "--drain-time", "0", "-o", "ndjson", "--quiet")
	service.Env = append(os.Environ(), "URTUU_SANDBOX_KEY="+key)
	service.Stderr = os.Stderr
	stdout, err := service.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		service.Process.Signal(os.Interrupt)
		service.Wait()
	})
	var started struct {
		BaseURL string `json:"base_url"`
	}
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &started)
	}
	if err != nil {
		t.Fatal(err)
	}
	return API{started.BaseURL, key}
}

type Message struct {
	ID   string `json:"message_id"`
	Text string
	Code string
}

// messageTo returns the newest message to a number; with `after`, the first that came after that one. It waits up to
// 10 seconds.
func messageTo(t *testing.T, api API, phone, after string) Message {
	t.Helper()
	query := url.Values{"to": {phone}, "limit": {"1"}}
	if after != "" {
		query.Set("after", after)
	}
	for try := 0; try < 50; try++ {
		var outbox struct{ Data []Message }
		status, err := api.Call("GET", "/outbox?"+query.Encode(), nil, &outbox)
		if err != nil || status != http.StatusOK {
			t.Fatalf("the outbox was not read: status %d, %v", status, err)
		}
		if len(outbox.Data) > 0 {
			return outbox.Data[0]
		}
		time.Sleep(200 * time.Millisecond)
	}
	t.Fatalf("no message to %s", phone)
	return Message{}
}

func TestLoginCode(t *testing.T) {
	api := startService(t)
	login := Login{api}

	t.Run("a customer logs in with the code", func(t *testing.T) {
		started, err := login.SendCode("8811-2233")
		if err != nil {
			t.Fatal(err)
		}
		message := messageTo(t, api, "88112233", "")
		if message.Code == "" || !strings.Contains(message.Text, message.Code) {
			t.Fatalf("the text %q has no code", message.Text)
		}
		last := "0"
		if strings.HasSuffix(message.Code, last) {
			last = "1"
		}
		if login.IsRight(started, message.Code[:len(message.Code)-1]+last) {
			t.Error("a wrong code is right")
		}
		if !login.IsRight(started, message.Code) {
			t.Error("the code is wrong")
		}
		if login.IsRight(started, message.Code) {
			t.Error("the code is good twice")
		}
	})

	t.Run("each login has its own code", func(t *testing.T) {
		if _, err := login.SendCode("9911-2233"); err != nil {
			t.Fatal(err)
		}
		first := messageTo(t, api, "99112233", "")
		again, err := login.SendCode("9911-2233")
		if err != nil {
			t.Fatal(err)
		}
		second := messageTo(t, api, "99112233", first.ID)
		if !login.IsRight(again, second.Code) {
			t.Error("the code of the second login is wrong")
		}
	})
}
